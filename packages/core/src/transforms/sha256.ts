import { sha256Hex } from '../hash/hash.ts';
import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

export const sha256 = defineTransform({
  name: 'sha256',
  summary: 'SHA-256 of the text in lower-case hex. 64 hex characters pass unchanged, so nothing is hashed twice; an empty text is missing.',
  cost: { value: 400 },
  examples: [
    ['anna@example.com', 'f7d54c22dda5b1780276601cd005909b70543fc4a6ba72d735b4cb9bbb611f01'],
    [
      'f7d54c22dda5b1780276601cd005909b70543fc4a6ba72d735b4cb9bbb611f01',
      'f7d54c22dda5b1780276601cd005909b70543fc4a6ba72d735b4cb9bbb611f01',
    ],
    ['', undefined],
    [{}, undefined],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const text = textOf(value);
    return text ? sha256Hex(text) : undefined;
  },
});
