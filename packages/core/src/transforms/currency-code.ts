import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const currencyCode = defineTransform({
  name: 'currency_code',
  summary: 'A currency by its three letters of ISO 4217, in upper case; anything else is missing.',
  cost: { value: 600, character: 16 },
  examples: [
    [' eur ', 'EUR'],
    ['€', undefined],
    ['US Dollar', undefined],
  ],
  apply(value) {
    const text = textOf(value)?.trim().toUpperCase();
    return text !== undefined && /^[A-Z]{3}$/.test(text) ? text : undefined;
  },
});
