import { defineTransform } from './define.ts';
import { isPresent } from './values.ts';

export const first = defineTransform({
  name: 'first',
  summary: 'The first element of a list that is there; a single value is its own first.',
  takes: 'list',
  cost: { character: 0 },
  examples: [
    [[null, 'a', 'b'], 'a'],
    [[], undefined],
    ['a', 'a'],
  ],
  apply: (value) => (Array.isArray(value) ? value.find(isPresent) : value),
});
