import { defineTransform } from './define.ts';
import { asNumber } from './values.ts';

export const toNumber = defineTransform({
  name: 'to_number',
  summary: 'A number, or a text that reads like one; anything else becomes undefined.',
  examples: [
    ['19.90', 19.9],
    [' 7 ', 7],
    ['1,000', undefined],
    [true, undefined],
    ['', undefined],
    ['1e400', undefined],
  ],
  apply: (value) => asNumber(value),
});
