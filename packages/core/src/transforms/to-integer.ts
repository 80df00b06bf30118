import { defineTransform } from './define.ts';
import { asNumber } from './values.ts';

export const toInteger = defineTransform({
  name: 'to_integer',
  summary: 'A number without its fraction, cut towards zero.',
  examples: [
    ['19.90', 19],
    [-1.5, -1],
    ['x', undefined],
  ],
  apply(value) {
    const number = asNumber(value);
    return number === undefined ? undefined : Math.trunc(number) + 0;
  },
});
