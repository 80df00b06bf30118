import { defineTransform } from './define.ts';
import { isPresent } from './values.ts';

export const count = defineTransform({
  name: 'count',
  summary: 'How many elements of a list are there; a single value counts as one.',
  takes: 'list',
  cost: { character: 0 },
  examples: [
    [['a', null, 'b'], 2],
    [[], 0],
    ['a', 1],
    [null, undefined],
  ],
  apply: (value) => (Array.isArray(value) ? value.filter(isPresent).length : 1),
});
