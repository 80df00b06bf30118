/**
 * Telephone numbers inside a text. Candidates are cut out in one pass over the text, each of bounded length, and only they are
 * given to the library: its own search through whole texts takes seconds on a hostile one.
 */
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js';
import { isAlphanumeric, isDigit } from './characters.ts';

const MAX_DIGITS = 15;
const MIN_DIGITS = 7;
const MAX_LENGTH = 32;
/** Questions to the library that one event may cost; after that, what carries a plus sign and enough digits is taken for a number. */
export const MAX_TRIES = 500;
export interface Tries {
  left: number;
}

/** Ids and version strings are full of digits: without a plus sign a number must at least be written like a telephone number. */
const NATIONAL = /^\(?\d{2,5}[) ./-]+\d{2,}(?:[ ./-]\d{2,})+$|^\(\d{2,5}\)\s?\d{3,}$/;

interface Place {
  start: number;
  end: number;
}

/** `country`, two letters, lets national numbers be known. */
export function findPhones(text: string, country: string | undefined, tries: Tries = { left: MAX_TRIES }): Place[] {
  const region = country !== undefined && isSupportedCountry(country as CountryCode) ? (country as CountryCode) : undefined;
  if (region === undefined && !text.includes('+')) return [];
  const found: Place[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const international = code === PLUS;
    if (!international && (region === undefined || !beginsNational(text, at, code))) continue;
    const ends = groupEnds(text, international ? at + 1 : at);
    let accepted: number | undefined;
    // The longest that is a number: what follows it may be digits too.
    for (let i = ends.length - 1; i >= 0 && accepted === undefined; i--) {
      const candidate = text.slice(at, ends[i]);
      if (!international && !NATIONAL.test(candidate)) continue;
      tries.left -= 1;
      if (tries.left < 0 ? international : isNumber(candidate, international ? undefined : region)) accepted = ends[i]!;
    }
    if (accepted !== undefined) {
      found.push({ start: at, end: accepted });
      at = accepted - 1;
    } else if (!international) at = skipDigits(text, at);
  }
  return found;
}

const PLUS = 43;
const OPEN = 40;

function isNumber(candidate: string, region: CountryCode | undefined): boolean {
  try {
    return parsePhoneNumberFromString(candidate, region)?.isValid() === true;
  } catch {
    return false; // the library refuses some shapes by throwing
  }
}

function beginsNational(text: string, at: number, code: number): boolean {
  if (!isDigit(code) && !(code === OPEN && isDigit(text.charCodeAt(at + 1)))) return false;
  if (at === 0) return true;
  const before = text.charCodeAt(at - 1);
  return !isAlphanumeric(before) && !JOINING.has(before);
}
/** `. , - + / _ @ ( #`: what follows these is part of something else. */
const JOINING: ReadonlySet<number> = new Set([46, 44, 45, 43, 47, 95, 64, 40, 35]);

/** Where the groups of digits end that could make a number from here, those with too few digits left out. */
function groupEnds(text: string, from: number): number[] {
  const ends: number[] = [];
  let digits = 0;
  let at = from;
  for (; at < text.length && at - from < MAX_LENGTH; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) {
      digits += 1;
      if (digits > MAX_DIGITS) return ends;
      const next = text.charCodeAt(at + 1);
      if (!isDigit(next) && digits >= MIN_DIGITS && !isAlphanumeric(next)) ends.push(at + 1);
    } else if (!isSeparator(code) || (isSeparator(text.charCodeAt(at - 1)) && !isPair(text, at))) return ends;
  }
  return ends;
}

/** Space, hyphen, dot, slash, brackets, no-break space. */
function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 47 || code === 40 || code === 41 || code === 160;
}
/** `) ` and ` (` stand together. */
function isPair(text: string, at: number): boolean {
  return text[at - 1] === ')' || text[at] === '(';
}
function skipDigits(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at + 1))) at += 1;
  return at;
}
