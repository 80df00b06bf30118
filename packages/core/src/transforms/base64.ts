import { bytesOf, toBase64 } from '../hash/hash.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const base64 = defineTransform({
  name: 'base64',
  summary: 'The UTF-8 bytes of a text in base64.',
  grows: true,
  cost: { character: 20 },
  examples: [
    ['héllo', 'aMOpbGxv'],
    ['', ''],
    [{}, undefined],
  ],
  apply(value) {
    const text = textOf(value);
    return text === undefined ? undefined : toBase64(bytesOf(text));
  },
});
