import { arithmetic } from './arithmetic.ts';

export const add = arithmetic('add', 'A number plus another, which may be a field: `{"source": "properties.tax"}`.', 'the number to add', {
  examples: [
    [0.1, 0.3, 0.2],
    ['10', 12.5, '2.5'],
    ['x', undefined, 1],
  ],
  calculate: (value, by) => value + by,
});
