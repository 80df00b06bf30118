import { type CountryCode, isSupportedCountry, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { countryCode } from './country-code.ts';
import { textOf } from './values.ts';

export const DEFAULT_COUNTRY = {
  name: 'default_country',
  type: 'string',
  default: '',
  summary: 'country of numbers written without a country code (code or English name), normally that of the address',
} as const;

const MAX_LENGTH = 40;

/**
 * E.164 including the plus, or undefined: the hash of a number without a country code would match at no vendor. Its length must be right;
 * `strict`: the country must also use such numbers.
 */
export const e164 = (value: unknown, country: unknown, strict = false): string | undefined => parsed(value, country, strict)?.number;

/** The digits without the country code. */
export const nationalNumber = (value: unknown, country: unknown): string | undefined => parsed(value, country, false)?.nationalNumber;

/**
 * A German number is written with a 0, after which it may begin with any digits and have almost any length. So the parser takes
 * 4915123456789 for a number of the area 049, and puts the country code before it once more. From numbers of other countries it takes the code off.
 */
const GERMAN_CODE = /^49/;

function parsed(value: unknown, country: unknown, strict: boolean): PhoneNumber | undefined {
  const text = textOf(value)?.trim();
  if (!text || text.length > MAX_LENGTH) return undefined;
  const international = text.startsWith('00') ? `+${text.slice(2)}` : text;
  if (international.startsWith('+')) return numberOf(international, strict);
  const code = textOf(countryCode.apply(country, []))?.toUpperCase() ?? '';
  const german = code === 'DE' && GERMAN_CODE.test(international) ? numberOf(`+${international}`, true) : undefined;
  if (german) return german;
  if (isSupportedCountry(code)) return numberOf(international, strict, code);
  return numberOf(`+${international}`, true);
}

function numberOf(text: string, strict: boolean, country?: CountryCode): PhoneNumber | undefined {
  const number = parsePhoneNumberFromString(text, country);
  return (strict ? number?.isValid() : number?.isPossible()) ? number : undefined;
}
