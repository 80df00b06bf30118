import { defineTransform } from './define.ts';
import { asNumber } from './values.ts';

export const take = defineTransform({
  name: 'take',
  summary: 'At most so many elements from the start of a list.',
  takes: 'list',
  args: [{ name: 'count', type: 'number', summary: 'how many' }],
  cost: { character: 0 },
  examples: [
    [[1, 2, 3], [1, 2], 2],
    ['a', 'a', 2],
  ],
  apply: (value, [limit]) => (Array.isArray(value) ? value.slice(0, Math.max(0, asNumber(limit) ?? 0)) : value),
});
