import { isAlphanumeric, isDigit } from './characters.ts';
import type { Detector } from './detector.ts';

const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;
const AT = 64;
const PERCENT = 37;

export const findEmails: Detector = (text, from, until, findings) => {
  let at = from;
  for (; at < until; at++) {
    const width = signAt(text, at);
    if (width === 0) continue;
    let start = at;
    while (start > 0 && at - start < MAX_LOCAL && isLocalPart(text.charCodeAt(start - 1))) start -= 1;
    // A percent sign before two hex digits may end an earlier escape (`?to%3Danna%40…`). Including it is harmless.
    while (start < at && text[start] === '.') start += 1;
    const domain = at + width;
    let end = domain;
    while (end < text.length && end - domain < MAX_DOMAIN && isDomain(text.charCodeAt(end))) end += 1;
    while (end > domain && !isAlphanumeric(text.charCodeAt(end - 1))) end -= 1;
    if (start < at && isDomainName(text.slice(domain, end))) findings.push({ kind: 'email', start, end });
    at = domain - 1;
  }
  return at;
};

/** Length of the at sign here: `@`, or its escape in a URL; 0 where there is none. */
function signAt(text: string, at: number): 0 | 1 | 3 {
  const code = text.charCodeAt(at);
  if (code === AT) return 1;
  return code === PERCENT && text.charCodeAt(at + 1) === 52 && text.charCodeAt(at + 2) === 48 ? 3 : 0;
}

function isDomainName(text: string): boolean {
  const dot = text.lastIndexOf('.');
  if (dot < 1 || text.includes('..') || text.length - dot - 1 < 2) return false;
  for (let i = dot + 1; i < text.length; i++) if (isDigit(text.charCodeAt(i))) return text.startsWith('xn--', dot + 1);
  return true;
}

/** Letters, digits and `. _ % + - '`. The other characters that RFC 5322 allows are separators in the texts we see. */
function isLocalPart(code: number): boolean {
  return isAlphanumeric(code) || code === 46 || code === 95 || code === PERCENT || code === 43 || code === 45 || code === 39;
}
function isDomain(code: number): boolean {
  return isAlphanumeric(code) || code === 45 || code === 46;
}
