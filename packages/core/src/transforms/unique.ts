import { defineTransform } from './define.ts';
import { isPresent } from './values.ts';

export const unique = defineTransform({
  name: 'unique',
  summary: 'A list without repeated values.',
  takes: 'list',
  examples: [
    [
      ['a', 'b', 'a', null],
      ['a', 'b'],
    ],
    ['a', 'a'],
  ],
  apply: (value) => (Array.isArray(value) ? [...new Set(value.filter(isPresent))] : value),
});
