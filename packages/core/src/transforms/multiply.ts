import { defineTransform } from './define.ts';
import { asNumber, tidy } from './values.ts';

export const multiply = defineTransform({
  name: 'multiply',
  summary: 'A number times another, for example 100 for minor units of a currency.',
  args: [{ name: 'by', type: 'number', summary: 'the factor' }],
  examples: [
    [19.99, 1999, 100],
    ['3', 1.5, 0.5],
    ['x', undefined, 2],
  ],
  apply(value, [by]) {
    const number = asNumber(value);
    const factor = asNumber(by);
    return number === undefined || factor === undefined ? undefined : tidy(number * factor);
  },
});
