import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { countryCode } from './country-code.ts';
import { textOf } from './values.ts';

export const DEFAULT_COUNTRY = {
  name: 'default_country',
  type: 'string',
  default: '',
  summary: 'country of numbers written without a country code (code or English name), normally that of the address',
} as const;

const MAX_LENGTH = 40;

/** E.164 including the plus, or undefined: the hash of a number without a country code would match at no vendor. */
export function e164(value: unknown, country: unknown): string | undefined {
  const text = textOf(value)?.trim();
  if (!text || text.length > MAX_LENGTH) return undefined;
  const international = text.startsWith('00') ? `+${text.slice(2)}` : text;
  if (international.startsWith('+')) return possible(international);
  const code = textOf(countryCode.apply(country, []))?.toUpperCase() ?? '';
  if (isSupportedCountry(code)) return possible(international, code);
  const guess = parsePhoneNumberFromString(`+${international}`);
  return guess?.isValid() ? guess.number : undefined;
}

function possible(text: string, country?: CountryCode): string | undefined {
  const number = parsePhoneNumberFromString(text, country);
  return number?.isPossible() ? number.number : undefined;
}
