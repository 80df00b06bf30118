import { defineTransform } from './define.ts';
import { isPresent } from './values.ts';

export const fillMissing = defineTransform({
  name: 'fill_missing',
  summary: 'A list whose missing elements are a value of your own, such as 1 for quantities that nobody sent.',
  takes: 'list',
  args: [{ name: 'value', type: 'string', summary: 'a text or a number' }],
  cost: { character: 0 },
  examples: [
    [[2, null, 3], [2, 1, 3], 1],
    [[], [], 1],
    ['a', 'a', 'b'],
  ],
  apply: (value, [instead]) => (Array.isArray(value) ? value.map((one: unknown) => (isPresent(one) ? one : instead)) : value),
});
