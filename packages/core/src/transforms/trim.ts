import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const trim = defineTransform({
  name: 'trim',
  summary: 'Text without white space at its ends; what is then empty is missing.',
  examples: [
    ['  a b ', 'a b'],
    ['   ', undefined],
    [7, '7'],
  ],
  apply: (value) => textOf(value)?.trim() || undefined,
});
