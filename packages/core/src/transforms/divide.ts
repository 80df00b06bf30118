import { arithmetic } from './arithmetic.ts';

export const divide = arithmetic(
  'divide',
  'A number divided by another, which may be a field. Division by zero has no result.',
  'the divisor',
  {
    examples: [
      [1999, 19.99, 100],
      ['9', 3, '3'],
      [1, undefined, 0],
    ],
    calculate: (value, by) => (by === 0 ? Number.NaN : value / by),
  },
);
