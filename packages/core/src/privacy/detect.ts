/**
 * Finds personal data inside free text. Each detector stands behind a cheap question ("is there an @ at all?"), and each
 * is linear in the length of the text, whatever the text.
 */
import { isAlphanumeric, isDigit, isLetter } from './characters.ts';
import { ibanChecks, ibanLength, isCardNumber } from './checksum.ts';
import { findPhones, type Tries } from './phones.ts';

export type PiiKind = 'email' | 'phone' | 'card' | 'iban';
export interface Finding {
  kind: PiiKind;
  start: number;
  end: number;
}
export interface DetectOptions {
  /** Two letters: lets national phone numbers be known, where the visitor's country is. */
  country?: string | undefined;
  /** What is left of the event's share of costly questions. */
  tries?: Tries | undefined;
}

export function findPii(text: string, kinds: ReadonlySet<PiiKind>, options: DetectOptions = {}): Finding[] {
  const findings: Finding[] = [];
  if (text.length < 6) return findings;
  if (kinds.has('email')) findEmails(text, findings);
  if (kinds.has('card') || kinds.has('iban') || kinds.has('phone')) {
    const digits = countDigits(text);
    if (kinds.has('iban') && digits >= 10 && text.length >= 15) findIbans(text, findings);
    if (kinds.has('card') && digits >= 13) findCards(text, findings);
    if (kinds.has('phone') && digits >= 7)
      for (const place of findPhones(text, options.country, options.tries)) findings.push({ kind: 'phone', ...place });
  }
  return findings.length > 1 ? withoutOverlaps(findings) : findings;
}

function countDigits(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) if (isDigit(text.charCodeAt(i))) count += 1;
  return count;
}

function findEmails(text: string, findings: Finding[]): void {
  for (let at = nextAt(text, 0); at !== undefined; at = nextAt(text, at.end)) {
    let start = at.start;
    while (start > 0 && at.start - start < 64 && isLocalPart(text.charCodeAt(start - 1))) start -= 1;
    // A percent sign before two hex digits may be the end of something else's escape (`?to%3Danna%40…`): harmless to include.
    while (start < at.start && text[start] === '.') start += 1;
    let end = at.end;
    while (end < text.length && end - at.end < 253 && isDomain(text.charCodeAt(end))) end += 1;
    while (end > at.end && !isAlphanumeric(text.charCodeAt(end - 1))) end -= 1;
    if (start < at.start && isDomainName(text.slice(at.end, end))) findings.push({ kind: 'email', start, end });
  }
}

/** The sign itself, or its escape in an address. */
function nextAt(text: string, from: number): { start: number; end: number } | undefined {
  const plain = text.indexOf('@', from);
  const escaped = text.indexOf('%40', from);
  if (plain < 0 && escaped < 0) return undefined;
  return escaped < 0 || (plain >= 0 && plain < escaped) ? { start: plain, end: plain + 1 } : { start: escaped, end: escaped + 3 };
}

function isDomainName(text: string): boolean {
  const dot = text.lastIndexOf('.');
  if (dot < 1 || text.includes('..') || text.length - dot - 1 < 2) return false;
  for (let i = dot + 1; i < text.length; i++) if (isDigit(text.charCodeAt(i))) return text.startsWith('xn--', dot + 1);
  return true;
}

/** Digits in groups parted by single spaces, dots or hyphens; every run of neighbouring groups is a candidate. */
function findCards(text: string, findings: Finding[]): void {
  let i = 0;
  while (i < text.length) {
    if (!isDigit(text.charCodeAt(i))) {
      i += 1;
      continue;
    }
    const groups: { start: number; end: number }[] = [];
    while (i < text.length && isDigit(text.charCodeAt(i))) {
      const start = i;
      while (i < text.length && isDigit(text.charCodeAt(i))) i += 1;
      groups.push({ start, end: i });
      if (isSeparator(text.charCodeAt(i)) && isDigit(text.charCodeAt(i + 1))) i += 1;
    }
    cardsInGroups(text, groups, findings);
  }
}

function cardsInGroups(text: string, groups: { start: number; end: number }[], findings: Finding[]): void {
  for (let from = 0; from < groups.length; from++) {
    let digits = '';
    for (let to = from; to < groups.length && digits.length < 19; to++) {
      digits += text.slice(groups[to]!.start, groups[to]!.end);
      if (digits.length < 13 || digits.length > 19 || !isCardNumber(digits)) continue;
      findings.push({ kind: 'card', start: groups[from]!.start, end: groups[to]!.end });
      from = to;
      break;
    }
  }
}

function findIbans(text: string, findings: Finding[]): void {
  for (let i = 0; i + 15 <= text.length; i++) {
    if (!isLetter(text.charCodeAt(i)) || !isLetter(text.charCodeAt(i + 1)) || !isDigit(text.charCodeAt(i + 2))) continue;
    if (!isDigit(text.charCodeAt(i + 3)) || (i > 0 && isAlphanumeric(text.charCodeAt(i - 1)))) continue;
    const length = ibanLength(text.slice(i, i + 2).toUpperCase());
    if (length === undefined) continue;
    const end = compactEnd(text, i, length);
    if (end === undefined) continue;
    if (ibanChecks(text.slice(i, end).replaceAll(' ', '').toUpperCase())) {
      findings.push({ kind: 'iban', start: i, end });
      i = end - 1;
    }
  }
}

/** Where `length` letters and digits, single spaces between them left out, end; undefined where they do not, or go on. */
function compactEnd(text: string, start: number, length: number): number | undefined {
  let count = 0;
  let at = start;
  for (; at < text.length && count < length; at++) {
    const code = text.charCodeAt(at);
    if (isAlphanumeric(code)) count += 1;
    else if (code !== 32 || text.charCodeAt(at - 1) === 32) return undefined;
  }
  return count < length || (at < text.length && isAlphanumeric(text.charCodeAt(at))) ? undefined : at;
}

/** In order of place; of two that overlap the longer one stays: the digits of an IBAN are no telephone number. */
function withoutOverlaps(findings: Finding[]): Finding[] {
  const kept: Finding[] = [];
  for (const one of findings.sort((a, b) => a.start - b.start)) {
    const last = kept.at(-1);
    if (last === undefined || one.start >= last.end) kept.push(one);
    else if (one.end - one.start > last.end - last.start) kept[kept.length - 1] = one;
  }
  return kept;
}

function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 160;
}
/** `. _ % + - '` beside letters and digits: the other characters that mail allows are separators in every text we see. */
function isLocalPart(code: number): boolean {
  return isAlphanumeric(code) || code === 46 || code === 95 || code === 37 || code === 43 || code === 45 || code === 39;
}
function isDomain(code: number): boolean {
  return isAlphanumeric(code) || code === 45 || code === 46;
}
