import { ApiError, invalid } from './errors.ts';

export const MAX_DEPTH = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Bytes to JSON. Depth is counted on the text, before anything is built from it: recursion over a depth bomb would end the process. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError('INVALID_JSON', { message: 'The body is not valid UTF-8.', cause });
  }
  if (isDeeperThan(text, MAX_DEPTH)) throw invalid('', `is nested deeper than ${MAX_DEPTH} levels`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError('INVALID_JSON', { cause });
  }
}

/** Counts brackets outside of strings. */
export function isDeeperThan(text: string, most: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > most) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * What no stored text may hold: PostgreSQL refuses U+0000, half a surrogate pair has no UTF-8, and a key named __proto__ waits for code
 * that assigns it. The first place found, as a path, with what is wrong; undefined for sound values.
 */
export function findUnsafeText(value: unknown, path = ''): { field: string; message: string } | undefined {
  if (typeof value === 'string') {
    const message = textFault(value);
    return message === undefined ? undefined : { field: path, message };
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = findUnsafeText(item, `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return { field: path, message: 'may not have a key named __proto__' };
    if (textFault(key) !== undefined) return { field: path, message: `has a key that ${textFault(key)}` };
    const found = findUnsafeText(item, path === '' ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'may not hold the character U+0000';
  return text.isWellFormed() ? undefined : 'may not hold half a surrogate pair';
}
