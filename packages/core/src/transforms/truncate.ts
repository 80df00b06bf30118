import { defineTransform } from './define.ts';
import { asNumber, textOf } from './values.ts';

export const truncate = defineTransform({
  name: 'truncate',
  summary: 'At most so many characters from the start of a text; no character is cut in half.',
  args: [{ name: 'length', type: 'number', summary: 'how many UTF-16 units at most' }],
  examples: [
    ['abcdef', 'abc', 3],
    ['a😀', 'a', 2],
    [12345, '12', 2],
  ],
  apply(value, [length]) {
    const text = textOf(value);
    const limit = Math.max(0, Math.trunc(asNumber(length) ?? 0));
    if (text === undefined || text.length <= limit) return text;
    const lastUnit = text.charCodeAt(limit - 1);
    return text.slice(0, lastUnit >= 0xd800 && lastUnit <= 0xdbff ? limit - 1 : limit);
  },
});
