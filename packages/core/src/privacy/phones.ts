/**
 * Phone numbers inside a text. One pass cuts out candidates of bounded length, and only those go to libphonenumber: its own
 * search through a whole text takes seconds on a hostile one.
 */
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { isAlphanumeric, isDigit } from './characters.ts';
import type { Detector, Tries } from './detector.ts';

const MAX_DIGITS = 15;
const MIN_DIGITS = 7;
const MAX_LENGTH = 32;
/** Library calls per event, about 60 µs each. After that a plus sign with enough digits counts as a number without a call. */
export const MAX_TRIES = 500;

const PLUS = 43;
const OPEN = 40;
const CLOSE = 41;

/** Without a country only numbers that begin with a plus sign are found. */
export const findPhones: Detector = (text, from, until, findings, { country, tries = { left: MAX_TRIES } }) => {
  const region = country !== undefined && isSupportedCountry(country as CountryCode) ? (country as CountryCode) : undefined;
  let at = region === undefined ? nextPlus(text, from) : from;
  while (at < until) {
    const code = text.charCodeAt(at);
    const international = code === PLUS;
    let next = at + 1;
    if (international || beginsNational(text, at, code)) {
      const ends = international ? internationalEnds(text, at + 1) : nationalEnds(text, at);
      const end = longestNumber(text, at, ends, international ? undefined : region, tries);
      if (end !== undefined) {
        findings.push({ kind: 'phone', start: at, end });
        next = end;
      } else if (!international) next = afterDigits(text, next);
    }
    at = region === undefined ? nextPlus(text, next) : next;
  }
  return at;
};

function nextPlus(text: string, from: number): number {
  const at = text.indexOf('+', from);
  return at < 0 ? text.length : at;
}

/** Longest first: the digits after a number may look like a part of it. */
function longestNumber(text: string, start: number, ends: number[], region: CountryCode | undefined, tries: Tries): number | undefined {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    tries.left -= 1;
    if (tries.left < 0 ? region === undefined : isNumber(text.slice(start, end), region)) return end;
  }
  return undefined;
}

function isNumber(candidate: string, region: CountryCode | undefined): boolean {
  try {
    return parsePhoneNumberFromString(candidate, region)?.isValid() === true;
  } catch {
    return false; // the library throws on some shapes
  }
}

function beginsNational(text: string, at: number, code: number): boolean {
  if (!isDigit(code) && !(code === OPEN && isDigit(text.charCodeAt(at + 1)))) return false;
  if (at === 0) return true;
  const before = text.charCodeAt(at - 1);
  return !isAlphanumeric(before) && !JOINING.has(before);
}
/** `. , - + / _ @ ( #` join what follows to something else, such as a version or an id. */
const JOINING: ReadonlySet<number> = new Set([46, 44, 45, 43, 47, 95, 64, 40, 35]);

/** Possible ends of a number whose digits begin at `from`. Single separators may stand between its groups. */
function internationalEnds(text: string, from: number): number[] {
  const ends: number[] = [];
  let digits = 0;
  for (let at = from; at < text.length && at - from < MAX_LENGTH; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) {
      digits += 1;
      if (digits > MAX_DIGITS) return ends;
      if (digits >= MIN_DIGITS && endsHere(text, at + 1)) ends.push(at + 1);
    } else if (!isSeparator(code) || (isSeparator(text.charCodeAt(at - 1)) && !isPair(text, at))) return ends;
  }
  return ends;
}

/**
 * Possible ends of a national number. Ids and versions are full of digits, so the number must be written like one:
 * three or more groups of at least two digits (`030 90 18 20`, `(030) 901-820`), or an area code in brackets (`(030) 901820`).
 */
function nationalEnds(text: string, from: number): number[] {
  const ends: number[] = [];
  const opened = text.charCodeAt(from) === OPEN;
  const first = opened ? from + 1 : from;
  let at = afterDigits(text, first, MAX_DIGITS + 1);
  let digits = at - first;
  if (digits < 2 || digits > 5) return ends;
  let groups = 1;
  while (at - from < MAX_LENGTH) {
    const separators = separatorsAt(text, at, groups === 1);
    if (separators === 0) return ends;
    const group = at + separators;
    const end = afterDigits(text, group, MAX_DIGITS + 1);
    digits += end - group;
    groups += 1;
    if (end - group < 2 || digits > MAX_DIGITS || end - from > MAX_LENGTH) return ends;
    const shaped = groups > 2 || (opened && end - group > 2 && closesBefore(text, at, separators));
    if (shaped && digits >= MIN_DIGITS && endsHere(text, end)) ends.push(end);
    at = end;
  }
  return ends;
}

/** How many separator characters may stand here: one, or several after the area code where a bracket closes it. */
function separatorsAt(text: string, at: number, afterArea: boolean): number {
  let count = 0;
  while (isSeparator(text.charCodeAt(at + count)) && (count === 0 || (afterArea && text.charCodeAt(at + count - 1) === CLOSE))) {
    const code = text.charCodeAt(at + count);
    if (code === OPEN || (code === CLOSE && !afterArea)) return 0;
    count += 1;
  }
  return count;
}
/** `)` or `) ` after the area code. */
function closesBefore(text: string, at: number, separators: number): boolean {
  return text.charCodeAt(at) === CLOSE && (separators === 1 || (separators === 2 && /\s/.test(text[at + 1] ?? '')));
}

function endsHere(text: string, at: number): boolean {
  return !isAlphanumeric(text.charCodeAt(at));
}
/** Space, hyphen, dot, slash, brackets, no-break space. */
function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 47 || code === OPEN || code === CLOSE || code === 160;
}
/** `) ` and ` (` are two separators in a row that belong together. */
function isPair(text: string, at: number): boolean {
  return text[at - 1] === ')' || text[at] === '(';
}
function afterDigits(text: string, from: number, most = Number.POSITIVE_INFINITY): number {
  let at = from;
  while (at - from < most && isDigit(text.charCodeAt(at))) at += 1;
  return at;
}
