import { COUNTRY_ALPHA3, countryNames } from './countries.ts';
import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

export const countryCode = defineTransform({
  name: 'country_code',
  summary: 'A country by its two letters of ISO 3166-1 in lower case, from two letters, three letters or its English name.',
  cost: { value: 600, character: 16 },
  examples: [
    ['DE', 'de'],
    ['USA', 'us'],
    ['United Kingdom', 'gb'],
    ['uk', 'gb'],
    ['U.S.A.', 'us'],
    ['Atlantis', undefined],
    ['zz', undefined],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const text = textOf(value)?.trim().toLowerCase().replaceAll('.', '');
    if (!text) return undefined;
    if (text === 'uk') return 'gb';
    if (text.length === 3) return COUNTRY_ALPHA3.get(text);
    const names = countryNames();
    return text.length === 2 ? (names.codes.has(text) ? text : undefined) : names.byName.get(text);
  },
});
