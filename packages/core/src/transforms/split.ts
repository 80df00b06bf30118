import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

/** As many values as an event may have. */
const MAX_PARTS = 50_000;

export const split = defineTransform({
  name: 'split',
  summary: 'A text cut into a list at each separator, the parts trimmed, empty ones left out. More than 50,000 parts are missing.',
  args: [{ name: 'separator', type: 'string', default: ',', summary: 'the text between two parts' }],
  examples: [
    ['a, b,,c', ['a', 'b', 'c']],
    ['a|b', ['a', 'b'], '|'],
    ['', []],
  ],
  cost: { value: 400, character: 10 },
  apply(value, [separator]) {
    const parts = textOf(value)?.split(textOf(separator) ?? ',', MAX_PARTS + 1);
    if (parts === undefined || parts.length > MAX_PARTS) return undefined;
    return parts.map((part) => part.trim()).filter((part) => part !== '');
  },
});
