import { isDigit } from './characters.ts';
import { cardLengths, luhn, MAX_CARD_DIGITS, MIN_CARD_DIGITS } from './checksum.ts';
import type { Detector } from './detector.ts';

/** Card numbers are digits in groups, with single spaces, dots or hyphens between. Every run of adjacent groups is a candidate. */
export const findCards: Detector = (text, from, until, findings) => {
  let at = from;
  while (at < until) {
    if (!isDigit(text.charCodeAt(at))) at += 1;
    // The middle of a group begins no card: a longer number may contain anything.
    else if (at > 0 && isDigit(text.charCodeAt(at - 1))) at = groupEnd(text, at);
    else {
      const end = cardEnd(text, at);
      if (end === undefined) at = groupEnd(text, at);
      else {
        findings.push({ kind: 'card', start: at, end });
        at = end;
      }
    }
  }
  return at;
};

const digits = new Uint8Array(MAX_CARD_DIGITS);

/** End of the shortest card number that begins with the group at `start`. */
function cardEnd(text: string, start: number): number | undefined {
  let count = 0;
  let lengths = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (!isDigit(code)) return undefined;
    if (count === MAX_CARD_DIGITS) return undefined;
    digits[count] = code - 48;
    count += 1;
    if (count === 4) {
      lengths = cardLengths(digits);
      if (lengths === 0) return undefined;
    }
    if (isDigit(text.charCodeAt(at + 1))) continue;
    if (count >= MIN_CARD_DIGITS && (lengths & (1 << count)) !== 0 && luhn(digits, count)) return at + 1;
    if (isSeparator(text.charCodeAt(at + 1))) at += 1;
  }
  return undefined;
}

function groupEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function isSeparator(code: number): boolean {
  return code === 32 || code === 45 || code === 46 || code === 160;
}
