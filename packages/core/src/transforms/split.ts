import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const split = defineTransform({
  name: 'split',
  summary: 'A text cut into a list at each separator, the parts trimmed, empty ones left out.',
  args: [{ name: 'separator', type: 'string', default: ',', summary: 'the text between two parts' }],
  examples: [
    ['a, b,,c', ['a', 'b', 'c']],
    ['a|b', ['a', 'b'], '|'],
    ['', []],
  ],
  apply: (value, [separator]) =>
    textOf(value)
      ?.split(textOf(separator) ?? ',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
});
