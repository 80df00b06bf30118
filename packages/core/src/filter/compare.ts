/** Comparison of values in loosely typed events. Collectors send `"19.90"` where the server sends `19.9`. */
import { isQuotaSpent, mayReadFields } from '../value-size.ts';

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?\s*$/i;

/** The value as a number, if it is one or is a text that reads like one. */
export function asNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.length <= 40 && NUMERIC.test(value) ? Number(value) : value;
  // `1e400` reads like a number but is not finite; JSON would write it as null.
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Texts compare as texts. A number equals a text that reads like it, a boolean equals the text of its name, and null equals missing. */
export function same(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left === undefined || left === null) return right === undefined || right === null;
  if (typeof left === 'number' || typeof right === 'number') {
    const a = asNumber(left);
    return a !== undefined && a === asNumber(right);
  }
  if (typeof left === 'boolean') return String(left) === right;
  if (typeof right === 'boolean') return String(right) === left;
  if (typeof left === 'object' && typeof right === 'object' && right !== null) return sameShape(left, right, 0);
  return false;
}

/** Numeric order if both values read like numbers, character order for texts (correct for ISO times), otherwise NaN. */
export function order(left: unknown, right: unknown): number {
  const a = asNumber(left);
  const b = asNumber(right);
  if (a !== undefined && b !== undefined) return a - b;
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  return Number.NaN;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

const MAX_DEPTH = 64;

/** The first one is the event's, which may have 50,000 fields: they are counted only where all of the other one's are the same. */
function sameShape(left: object, right: object, depth: number): boolean {
  if (depth === MAX_DEPTH || Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(right);
  if (!mayReadFields(keys.length)) return false;
  const isSame = keys.every((key) => {
    if (!Object.hasOwn(left, key)) return false;
    const a = (left as Record<string, unknown>)[key];
    const b = (right as Record<string, unknown>)[key];
    if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null) return sameShape(a, b, depth + 1);
    return a === b;
  });
  if (!isSame || isQuotaSpent()) return false;
  const { length } = Object.keys(left);
  return mayReadFields(length) && length === keys.length;
}
