import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

export const normalizeCity = defineTransform({
  name: 'normalize_city',
  summary: 'A city in lower case without spaces, digits and punctuation.',
  cost: { value: 600, character: 16 },
  examples: [
    ['New York', 'newyork'],
    ['St. Gallen', 'stgallen'],
    ['München', 'münchen'],
    ['--', undefined],
  ],
  apply: (value) =>
    isHashed(value)
      ? value
      : textOf(value)
          ?.toLowerCase()
          .replace(/[^\p{L}\p{M}]/gu, '') || undefined,
});
