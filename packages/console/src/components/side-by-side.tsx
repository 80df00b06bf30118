/** Two texts side by side with their differences marked. Loaded on demand: the merge view is large. */
import { json } from '@codemirror/lang-json';
import { syntaxHighlighting } from '@codemirror/language';
import { MergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './editor.module.css';
import { COLOURS } from './editor.tsx';

export function SideBySide({ left, right }: { left: string; right: string }) {
  const host = useRef<HTMLElement>(null);
  useEffect(() => {
    if (host.current === null) return;
    const extensions = (label: string): Extension[] => [
      json(),
      syntaxHighlighting(COLOURS),
      EditorState.readOnly.of(true),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    ];
    const view = new MergeView({
      parent: host.current,
      a: { doc: left, extensions: extensions('Left') },
      b: { doc: right, extensions: extensions('Right') },
      collapseUnchanged: { margin: 3, minSize: 6 },
      highlightChanges: true,
    });
    return () => view.destroy();
  }, [left, right]);
  return <section ref={host} className={`${classes.editor} ${classes.merge}`} aria-label="Comparison" />;
}
