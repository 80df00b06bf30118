/**
 * Finds JSON numbers that a double cannot hold exactly: `9007199254740993` would become …992, and `1e400` null. Events with such a
 * number are rejected, because vendors would receive a different value. Clients can send the value as a string.
 */
import { endOfNumber } from './scan-json.ts';

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
const decoder = new TextDecoder();

/** Whether a JSON number keeps its decimal value in a round trip through a double. */
export function isExactNumber(text: string): boolean {
  const value = Number(text);
  return Number.isFinite(value) && (text === String(value) || decimal(text) === decimal(String(value)));
}

/**
 * Whether the number has at most 15 significant digits and a moderate exponent: a double keeps every such decimal. Reads the bytes,
 * because a hostile event has 250,000 numbers such as `1e5`, and texts would take a microsecond each.
 */
export function isPlainlyExact(json: Uint8Array, from: number, end: number): boolean {
  // Far from the ends of the range, with two digits of exponent.
  if (end - from > 100) return false;
  let digits = 0;
  let zeros = 0;
  for (let at = from; at < end; at++) {
    const byte = json[at] as number;
    if (byte === 101 || byte === 69) return digits <= 15 && hasModerateExponent(json, at + 1, end);
    if (byte < 48 || byte > 57) continue;
    // Zeros count only between other digits.
    if (byte === 48) zeros += digits === 0 ? 0 : 1;
    else {
      digits += zeros + 1;
      zeros = 0;
    }
    if (digits > 15) return false;
  }
  return true;
}
function hasModerateExponent(json: Uint8Array, from: number, end: number): boolean {
  const signed = json[from] === 43 || json[from] === 45;
  return end - from - (signed ? 1 : 0) <= 2 && from < end;
}

/** Normalises a decimal to significant digits and exponent: `1.50e3`, `1500` and `15e2` give the same text. */
function decimal(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace(/^[-+]/, '').split('.');
  const digits = withoutLeadingZeros(whole + fraction);
  const significant = withoutTrailingZeros(digits);
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
function withoutLeadingZeros(digits: string): string {
  let at = 0;
  while (digits[at] === '0') at += 1;
  return digits.slice(at);
}
function withoutTrailingZeros(digits: string): string {
  let at = digits.length;
  while (digits[at - 1] === '0') at -= 1;
  return digits.slice(0, at);
}

/** Numbers of more than 15 digits that one event may have. Each takes up to a microsecond. */
export const MAX_LONG_NUMBERS = 20_000;
/** There are more than `MAX_LONG_NUMBERS`. The search stopped there. */
export const TOO_MANY_LONG_NUMBERS = Symbol('too many long numbers');

/** Returns the path of the first inexact number (`properties.total`). Expects valid JSON. */
export function findInexactNumber(json: Uint8Array): string | typeof TOO_MANY_LONG_NUMBERS | undefined {
  let long = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === MINUS || (byte >= 48 && byte <= 57)) {
      const end = endOfNumber(json, at + 1);
      if (!isPlainlyExact(json, at, end)) {
        if (++long > MAX_LONG_NUMBERS) return TOO_MANY_LONG_NUMBERS;
        if (!isExactNumber(decoder.decode(json.subarray(at, end)))) return pathTo(json, at);
      }
      at = end - 1;
    }
  }
  return undefined;
}

export function endOfString(json: Uint8Array, from: number): number {
  let at = from + 1;
  for (; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at += 1;
  return at;
}

interface Level {
  /** Undefined inside an object. */
  index: number | undefined;
  key: string;
}

/** Returns the path of the value at an offset. Walks from the start, which is acceptable because only rejections need it. */
function pathTo(json: Uint8Array, offset: number): string {
  const levels: Level[] = [];
  let text = '';
  for (let at = 0; at < offset; at++) {
    const level = levels.at(-1);
    switch (json[at]) {
      case QUOTE: {
        const end = endOfString(json, at);
        text = decoder.decode(json.subarray(at, end + 1));
        at = end;
        break;
      }
      case 58: // :
        if (level !== undefined) level.key = String(JSON.parse(text));
        break;
      case 44: // ,
        if (level?.index !== undefined) level.index += 1;
        break;
      case 123: // {
        levels.push({ index: undefined, key: '' });
        break;
      case 91: // [
        levels.push({ index: 0, key: '' });
        break;
      case 125: // }
      case 93: // ]
        levels.pop();
        break;
    }
  }
  const path = levels.map(({ index, key }) => (index === undefined ? `.${key.slice(0, 100)}` : `[${index}]`)).join('');
  return path.startsWith('.') ? path.slice(1, 501) : path.slice(0, 500);
}
