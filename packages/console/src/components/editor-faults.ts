/** Shows faults in a code editor: the line is marked, and the message stands below it. */
import { type Extension, RangeSet, StateEffect, StateField, type Text } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import type { TextFault } from './text-faults.ts';

export const setFaults = StateEffect.define<readonly TextFault[]>();

class Message extends WidgetType {
  readonly #text: string;
  constructor(text: string) {
    super();
    this.#text = text;
  }
  override eq(other: Message): boolean {
    return other.#text === this.#text;
  }
  override toDOM(): HTMLElement {
    const line = document.createElement('div');
    line.className = 'cm-fault';
    line.setAttribute('role', 'alert');
    line.textContent = this.#text;
    return line;
  }
}

function marksOf(doc: Text, faults: readonly TextFault[]): DecorationSet {
  return RangeSet.of(
    faults.flatMap(({ at, message }) => {
      const line = doc.lineAt(Math.min(at, doc.length));
      return [
        Decoration.line({ class: 'cm-faultLine' }).range(line.from),
        Decoration.widget({ widget: new Message(message), block: true, side: 1 }).range(line.to),
      ];
    }),
    true,
  );
}

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, { changes, effects, newDoc }) {
    for (const effect of effects) if (effect.is(setFaults)) return marksOf(newDoc, effect.value);
    return value.map(changes);
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.contentAttributes.from(field, (value): Record<string, string> => (value.size > 0 ? { 'aria-invalid': 'true' } : {})),
  ],
});
export const faultMarks: Extension = marks;
