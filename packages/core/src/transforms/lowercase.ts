import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const lowercase = defineTransform({
  name: 'lowercase',
  summary: 'Text in lower case.',
  examples: [
    ['Anna@Example.COM', 'anna@example.com'],
    [
      ['A', 'b'],
      ['a', 'b'],
    ],
    [{}, undefined],
    [null, undefined],
  ],
  apply: (value) => textOf(value)?.toLowerCase(),
});
