import { defineTransform } from './define.ts';
import { isPresent } from './values.ts';

export const toList = defineTransform({
  name: 'to_list',
  summary: 'A single value as a list of one; a list stays one, without its holes.',
  takes: 'list',
  cost: { character: 0 },
  examples: [
    ['a', ['a']],
    [[1, null], [1]],
    [null, undefined],
  ],
  apply: (value) => (Array.isArray(value) ? value.filter(isPresent) : [value]),
});
