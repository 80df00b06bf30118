import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const digitsOnly = defineTransform({
  name: 'digits_only',
  summary: 'The digits of a text, such as an account id written with dashes.',
  cost: { value: 100, character: 12 },
  examples: [
    ['123-456-7890', '1234567890'],
    ['none', undefined],
  ],
  apply: (value) => textOf(value)?.replace(/\D/g, '') || undefined,
});
