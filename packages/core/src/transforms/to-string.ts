import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const toText = defineTransform({
  name: 'to_string',
  summary: 'The text of a text, number or boolean; objects have none (see json_stringify).',
  examples: [
    [12.5, '12.5'],
    [false, 'false'],
    [
      [1, 2],
      ['1', '2'],
    ],
    [{}, undefined],
  ],
  apply: (value) => textOf(value),
});
