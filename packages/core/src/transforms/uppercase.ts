import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const uppercase = defineTransform({
  name: 'uppercase',
  summary: 'Text in upper case.',
  examples: [
    ['eur', 'EUR'],
    [12, '12'],
    [undefined, undefined],
  ],
  apply: (value) => textOf(value)?.toUpperCase(),
});
