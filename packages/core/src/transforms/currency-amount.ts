import { defineTransform } from './define.ts';
import { asNumber, textOf } from './values.ts';

export const currencyAmount = defineTransform({
  name: 'currency_amount',
  summary: 'An amount as one text with its currency in front, as Nextdoor asks. Without a currency of ISO 4217 it is missing.',
  args: [{ name: 'currency', type: 'string', summary: 'ISO 4217 code, normally `{"source": "properties.currency"}`' }],
  examples: [
    [19.99, 'EUR19.99', 'eur'],
    ['5', 'USD5', ' USD '],
    [1, undefined, 'euro'],
    ['x', undefined, 'EUR'],
  ],
  apply(value, [currency]) {
    const amount = asNumber(value);
    const code = textOf(currency)?.trim().toUpperCase() ?? '';
    return amount === undefined || !/^[A-Z]{3}$/.test(code) ? undefined : `${code}${amount}`;
  },
});
