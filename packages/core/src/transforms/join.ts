import { joined } from '../value-size.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const join = defineTransform({
  name: 'join',
  summary: 'A list as one text; what has no text is left out.',
  takes: 'list',
  args: [{ name: 'separator', type: 'string', default: ',', summary: 'the text between two parts' }],
  examples: [
    [['a', 1, null, 'b'], 'a,1,b'],
    [['a', 'b'], 'a b', ' '],
    ['a', 'a'],
    [[], undefined],
  ],
  apply(value, [separator]) {
    if (!Array.isArray(value)) return textOf(value);
    const parts = value.map(textOf).filter((part) => part !== undefined);
    return parts.length === 0 ? undefined : joined(parts, textOf(separator) ?? ',');
  },
});
