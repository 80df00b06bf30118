import { arithmetic } from './arithmetic.ts';

export const multiply = arithmetic('multiply', 'A number times another, which may be a field.', 'the factor', {
  examples: [
    [19.99, 1999, 100],
    ['3', 1.5, 0.5],
    ['x', undefined, 2],
  ],
  calculate: (value, by) => value * by,
});
