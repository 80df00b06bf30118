import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

const WORDS = new Map([
  ...['true', '1', 'yes', 'y', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'n', 'off'].map((word) => [word, false] as const),
]);

export const toBoolean = defineTransform({
  name: 'to_boolean',
  summary: 'true, 1, yes, y, on and their opposites, in any case; anything else becomes undefined.',
  examples: [
    ['Yes', true],
    [0, false],
    ['maybe', undefined],
    [true, true],
  ],
  apply: (value) => WORDS.get(textOf(value)?.trim().toLowerCase() ?? ''),
});
