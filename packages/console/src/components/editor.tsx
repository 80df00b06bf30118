/** A code editor (CodeMirror), loaded with the pages that use it. Controlled: `value` in, `onChange` out. */
import { autocompletion, type CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { bracketMatching, defaultHighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import classes from './editor.module.css';

export interface EditorProps {
  value: string;
  onChange?: (text: string) => void;
  language: 'javascript' | 'json' | 'text';
  label: string;
  readOnly?: boolean;
  minHeight?: number;
  complete?: CompletionSource;
}

export function Editor({ value, onChange, language, label, readOnly = false, minHeight = 160, complete }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  useEffect(() => {
    changed.current = onChange;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor is made once; `value` is followed below
  useEffect(() => {
    if (host.current === null) return;
    const extensions: Extension[] = [
      lineNumbers(),
      history(),
      bracketMatching(),
      indentOnInput(),
      syntaxHighlighting(defaultHighlightStyle),
      keymap.of([...defaultKeymap, ...historyKeymap, ...(readOnly ? [] : [indentWithTab])]),
      EditorView.lineWrapping,
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) changed.current?.(update.state.doc.toString());
      }),
    ];
    if (language === 'javascript') extensions.push(javascript());
    if (language === 'json') extensions.push(json());
    if (complete !== undefined) extensions.push(autocompletion({ override: [complete] }));
    const made = new EditorView({ parent: host.current, state: EditorState.create({ doc: value, extensions }) });
    view.current = made;
    return () => made.destroy();
  }, [language, label, readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={host} className={classes.editor} style={{ minHeight }} />;
}
