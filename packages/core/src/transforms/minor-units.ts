import { defineTransform } from './define.ts';
import { asNumber, textOf } from './values.ts';

const digits = new Map<string, number>();

/** Decimal places of a currency in ISO 4217: 2 for most, 0 for JPY, 3 for KWD. */
function decimalPlaces(currency: string): number {
  let places = digits.get(currency);
  if (places === undefined) {
    places = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
    // Three letters allow 17,576 currencies, most of which do not exist.
    if (digits.size < 1_000) digits.set(currency, places);
  }
  return places;
}

export const minorUnits = defineTransform({
  name: 'minor_units',
  summary: 'An amount in the smallest unit of its currency, as a whole number: cents for EUR, whole yen for JPY.',
  args: [{ name: 'currency', type: 'string', summary: 'ISO 4217 code, normally `{"source": "properties.currency"}`' }],
  examples: [
    [19.99, 1999, 'EUR'],
    ['1500', 1500, 'jpy'],
    [1.5, 1500, 'KWD'],
    [1, undefined, 'euro'],
    ['x', undefined, 'EUR'],
  ],
  apply(value, [currency]) {
    const amount = asNumber(value);
    const code = textOf(currency)?.trim().toUpperCase() ?? '';
    if (amount === undefined || !/^[A-Z]{3}$/.test(code)) return undefined;
    return Math.round(Number((amount * 10 ** decimalPlaces(code)).toPrecision(15)));
  },
});
