import { md5Hex } from '../hash/hash.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

const MD5_HEX = /^[0-9a-f]{32}$/i;

export const md5 = defineTransform({
  name: 'md5',
  summary: 'MD5 of the text in lower-case hex. 32 hex characters pass unchanged; an empty text is missing.',
  cost: { value: 1_500, character: 8 },
  examples: [
    ['hello', '5d41402abc4b2a76b9719d911017c592'],
    ['5d41402abc4b2a76b9719d911017c592', '5d41402abc4b2a76b9719d911017c592'],
    ['', undefined],
  ],
  apply(value) {
    const text = textOf(value);
    if (!text) return undefined;
    return MD5_HEX.test(text) ? text : md5Hex(text);
  },
});
