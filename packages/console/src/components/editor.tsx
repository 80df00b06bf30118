/** A code editor (CodeMirror), loaded with the pages that use it. Controlled: `value` in, `onChange` out. */
import { autocompletion, type CompletionSource } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type CSSProperties, useEffect, useRef } from 'react';
import classes from './editor.module.css';
import { faultMarks, setFaults } from './editor-faults.ts';
import type { TextFault } from './text-faults.ts';

/** The names of the theme's colours, so that both themes can be read. */
export const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null], color: 'var(--info)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--warn)' },
  { tag: tags.number, color: 'var(--accent)' },
  { tag: [tags.comment, tags.punctuation], color: 'var(--dim)' },
  { tag: [tags.propertyName, tags.variableName], color: 'var(--ink)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

export interface EditorProps {
  value: string;
  onChange?: (text: string) => void;
  language: 'javascript' | 'json' | 'text';
  label: string;
  readOnly?: boolean;
  minHeight?: number;
  complete?: CompletionSource;
  /** Shown at their lines. */
  faults?: readonly TextFault[];
}
const NO_FAULTS: readonly TextFault[] = [];

export function Editor({ value, onChange, language, label, readOnly = false, minHeight = 160, complete, faults = NO_FAULTS }: EditorProps) {
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
      syntaxHighlighting(COLOURS),
      // Tab goes on to the next control: an editor that took it would be a trap for the keyboard. Ctrl ] and Ctrl [ indent.
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.lineWrapping,
      faultMarks,
      EditorState.readOnly.of(readOnly),
      // Some browsers need it to count as reachable by keyboard while it scrolls.
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: an editor that is made anew shows them too
  useEffect(() => {
    view.current?.dispatch({ effects: setFaults.of(faults) });
  }, [faults, language, label, readOnly]);
  return <div ref={host} className={classes.editor} style={{ '--least-height': `${minHeight}px` } as CSSProperties} />;
}
