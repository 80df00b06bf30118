import { COUNTRY_ALPHA3, countryNames, foldCountryName } from './countries.ts';
import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

export const countryCode = defineTransform({
  name: 'country_code',
  summary:
    'A country by its two letters of ISO 3166-1 in lower case, from two letters, three letters or its English name. Some names in the language of the country are known, too.',
  cost: { value: 600, character: 16 },
  examples: [
    ['DE', 'de'],
    ['USA', 'us'],
    ['United Kingdom', 'gb'],
    ['uk', 'gb'],
    ['U.S.A.', 'us'],
    ['UAE', 'ae'],
    ['Hong Kong', 'hk'],
    ['Saint Kitts and Nevis', 'kn'],
    ["Cote d'Ivoire", 'ci'],
    ['Österreich', 'at'],
    ['Atlantis', undefined],
    ['zz', undefined],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const text = textOf(value)?.trim().toLowerCase().replaceAll('.', '');
    if (!text) return undefined;
    if (text === 'uk') return 'gb';
    const names = countryNames();
    if (text.length === 2) return names.codes.has(text) ? text : undefined;
    return COUNTRY_ALPHA3.get(text) ?? names.byName.get(foldCountryName(text));
  },
});
