import { arithmetic } from './arithmetic.ts';

export const subtract = arithmetic('subtract', 'A number minus another, which may be a field.', 'the number to subtract', {
  examples: [
    [0.3, 0.2, 0.1],
    ['10', 7.5, '2.5'],
    ['x', undefined, 1],
  ],
  calculate: (value, by) => value - by,
});
