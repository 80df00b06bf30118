import { defineTransform } from './define.ts';
import { asNumber, tidy } from './values.ts';

export const sum = defineTransform({
  name: 'sum',
  summary: 'The sum of the numbers in a list; what is no number is left out. Without any number there is no sum.',
  takes: 'list',
  cost: { character: 0 },
  examples: [
    [[0.1, 0.2, '3'], 3.3],
    [['x'], undefined],
    [5, 5],
  ],
  apply(value) {
    const numbers = (Array.isArray(value) ? value : [value]).map(asNumber).filter((number) => number !== undefined);
    return numbers.length === 0 ? undefined : tidy(numbers.reduce((total, number) => total + number, 0));
  },
});
