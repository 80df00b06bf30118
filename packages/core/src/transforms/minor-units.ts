import { defineTransform } from './define.ts';
import { asNumber, textOf } from './values.ts';

/**
 * Currencies whose minor unit in ISO 4217 (list one, www.iso.org/iso-4217-currency-codes.html) is not two decimal places. `Intl` does not
 * follow that list: it gives the places that people write, such as none for HUF, IDR and IQD.
 */
const PLACES: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
  ...'CLF UYW'.split(' ').map((code) => [code, 4] as const),
]);

export const minorUnits = defineTransform({
  name: 'minor_units',
  summary: 'An amount in the smallest unit of its currency, as a whole number: cents for EUR, whole yen for JPY.',
  args: [{ name: 'currency', type: 'string', summary: 'ISO 4217 code, normally `{"source": "properties.currency"}`' }],
  examples: [
    [19.99, 1999, 'EUR'],
    ['1500', 1500, 'jpy'],
    [1.5, 1500, 'KWD'],
    [1500, 150000, 'HUF'],
    [1.5, 1500, 'IQD'],
    [1, undefined, 'euro'],
    ['x', undefined, 'EUR'],
  ],
  apply(value, [currency]) {
    const amount = asNumber(value);
    const code = textOf(currency)?.trim().toUpperCase() ?? '';
    if (amount === undefined || !/^[A-Z]{3}$/.test(code)) return undefined;
    return Math.round(Number((amount * 10 ** (PLACES.get(code) ?? 2)).toPrecision(15)));
  },
});
