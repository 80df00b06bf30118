import { defineTransform } from './define.ts';
import { isPresent } from './values.ts';

export const last = defineTransform({
  name: 'last',
  summary: 'The last element of a list that is there; a single value is its own last.',
  takes: 'list',
  cost: { character: 0 },
  examples: [
    [['a', 'b', null], 'b'],
    [[], undefined],
    ['a', 'a'],
  ],
  apply: (value) => (Array.isArray(value) ? value.findLast(isPresent) : value),
});
