import { sha1 as digest } from '@noble/hashes/legacy.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { utf8 } from '../vendor/bytes.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

const SHA1_HEX = /^[0-9a-f]{40}$/i;

export const sha1 = defineTransform({
  name: 'sha1',
  summary: 'SHA-1 in lower-case hex. 40 hex characters are a finished hash and pass unchanged.',
  cost: { value: 1_500, character: 8 },
  examples: [
    ['anna@example.com', '46864313fa6d54ca75d20f478c80edfa75d92a16'],
    ['a'.repeat(40), 'a'.repeat(40)],
    [{}, undefined],
  ],
  apply(value) {
    const text = textOf(value);
    if (text === undefined) return undefined;
    return SHA1_HEX.test(text) ? text.toLowerCase() : bytesToHex(digest(utf8(text)));
  },
});
