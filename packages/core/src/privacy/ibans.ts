import { isAlphanumeric, isDigit, isLetter } from './characters.ts';
import { ibanChecks, ibanLength } from './checksum.ts';
import type { Detector } from './detector.ts';

export const findIbans: Detector = (text, from, until, findings) => {
  let i = from;
  for (; i < until; i++) {
    if (!isLetter(text.charCodeAt(i)) || !isLetter(text.charCodeAt(i + 1)) || !isDigit(text.charCodeAt(i + 2))) continue;
    if (!isDigit(text.charCodeAt(i + 3)) || (i > 0 && isAlphanumeric(text.charCodeAt(i - 1)))) continue;
    const length = ibanLength(text.slice(i, i + 2).toUpperCase());
    if (length === undefined) continue;
    const end = compactEnd(text, i, length);
    if (end === undefined || !ibanChecks(text.slice(i, end).replaceAll(' ', '').toUpperCase())) continue;
    findings.push({ kind: 'iban', start: i, end });
    i = end - 1;
  }
  return i;
};

/** End of `length` letters and digits with single spaces between them; undefined where there are fewer or more. */
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
