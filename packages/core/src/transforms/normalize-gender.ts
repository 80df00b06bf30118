import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

const WORDS = new Map([
  ...['f', 'female', 'woman', 'girl', 'w'].map((word) => [word, 'f'] as const),
  ...['m', 'male', 'man', 'boy'].map((word) => [word, 'm'] as const),
]);

export const normalizeGender = defineTransform({
  name: 'normalize_gender',
  summary: '`f` or `m`; what is neither is missing.',
  cost: { value: 600, character: 16 },
  examples: [
    ['Female', 'f'],
    [' M ', 'm'],
    ['other', undefined],
  ],
  apply: (value) => (isHashed(value) ? value : WORDS.get(textOf(value)?.trim().toLowerCase() ?? '')),
});
