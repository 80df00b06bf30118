import { findInexactNumber, TOO_MANY_LONG_NUMBERS } from '@firsthand/core/event/exact-numbers.ts';
import { LONG_NUMBER, MAX_NODES, scanJson, TOO_DEEP, TOO_MANY } from '@firsthand/core/event/scan-json.ts';
import { parseInSteps } from '@firsthand/core/parse-in-steps.ts';
import { finish, type Steps } from '@firsthand/core/steps.ts';
import { ApiError, invalid } from './errors.ts';

const MAX_DEPTH = 64;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses bytes as JSON. Depth and number of values are checked before parsing: deep nesting would crash the process, and a million small
 * objects would block the event loop. Numbers that a double cannot represent are rejected, not rounded.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  return finish(parseJsonInSteps(bytes));
}
/** The same, divided. */
export function* parseJsonInSteps(bytes: Uint8Array): Steps<unknown> {
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
  yield;
  let value: unknown;
  try {
    value = yield* parseInSteps(text);
  } catch (cause) {
    throw new ApiError('INVALID_JSON', { cause });
  }
  if (flags !== LONG_NUMBER) return value;
  yield;
  const inexact = findInexactNumber(bytes);
  if (inexact === TOO_MANY_LONG_NUMBERS) throw invalid('', 'exceeds the budget values: it holds too many numbers of more than 15 digits');
  if (inexact !== undefined) throw invalid(inexact, 'is a number that cannot be kept exactly: send it as a string');
  return value;
}

/**
 * Finds text that cannot be stored: PostgreSQL rejects U+0000, a lone surrogate has no UTF-8 form, and a key named __proto__ may reach a
 * prototype later. Returns the first such field with its fault.
 */
export function findUnsafeText(value: unknown): { field: string; message: string } | undefined {
  const found = unsafeIn(value);
  if (found === undefined) return undefined;
  const field = found.path.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`),
    '',
  );
  return { field, message: found.message };
}
/** Makes the path on the way back: almost every body is fine, and may have 50,000 values. */
function unsafeIn(value: unknown): { path: (string | number)[]; message: string } | undefined {
  if (typeof value === 'string') {
    const message = textFault(value);
    return message === undefined ? undefined : { path: [], message };
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = unsafeIn(value[index]);
      if (found !== undefined) return { path: [index, ...found.path], message: found.message };
    }
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const keyFault = key === '__proto__' ? 'may not have a key named __proto__' : faultOfKey(key);
    if (keyFault !== undefined) return { path: [], message: keyFault };
    const found = unsafeIn((value as Record<string, unknown>)[key]);
    if (found !== undefined) return { path: [key, ...found.path], message: found.message };
  }
  return undefined;
}
function faultOfKey(key: string): string | undefined {
  const fault = textFault(key);
  return fault === undefined ? undefined : `has a key that ${fault}`;
}

export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'may not hold the character U+0000';
  return text.isWellFormed() ? undefined : 'may not hold half a surrogate pair';
}
