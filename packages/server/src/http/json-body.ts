import { findInexactNumber, TOO_MANY_LONG_NUMBERS } from '@firsthand/core/event/exact-numbers.ts';
import { LONG_NUMBER, MAX_NODES, scanJson, TOO_DEEP, TOO_MANY } from '@firsthand/core/event/scan-json.ts';
import { ApiError, invalid } from './errors.ts';

export const MAX_DEPTH = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses bytes as JSON. Depth and number of values are checked before parsing: deep nesting would crash the process, and a million small
 * objects would block the event loop. Numbers that a double cannot represent are rejected, not rounded.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return undefined;
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError('INVALID_JSON', { message: 'The body is not valid UTF-8.', cause });
  }
  const flags = scanJson(bytes, MAX_DEPTH);
  if (flags === TOO_DEEP) throw invalid('', `is nested deeper than ${MAX_DEPTH} levels`);
  if (flags === TOO_MANY) throw invalid('', `exceeds the budget values: it holds more than ${MAX_NODES} objects, lists and fields`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ApiError('INVALID_JSON', { cause });
  }
  const inexact = flags === LONG_NUMBER ? findInexactNumber(bytes) : undefined;
  if (inexact === TOO_MANY_LONG_NUMBERS) throw invalid('', 'exceeds the budget values: it holds too many numbers of more than 15 digits');
  if (inexact !== undefined) throw invalid(inexact, 'is a number that cannot be kept exactly: send it as a string');
  return value;
}

/**
 * Finds text that cannot be stored: PostgreSQL rejects U+0000, a lone surrogate has no UTF-8 form, and a key named __proto__ may reach a
 * prototype later. Returns the first such field with its fault.
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
