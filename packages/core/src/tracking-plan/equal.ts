import { keysOf, type Run, spendOnParts } from './run.ts';

type JsonLike = Record<string, unknown>;

const unlimited = (): Run => ({ violations: [], budget: Number.POSITIVE_INFINITY, depth: 0 });

/** Equality of JSON values, regardless of key order. Two values that are beyond the budget are not equal. */
export function jsonEqual(a: unknown, b: unknown, run: Run = unlimited()): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length || !spendOnParts(run, a.length)) return false;
    return a.every((item, i) => jsonEqual(item, b[i], run));
  }
  if (Array.isArray(b)) return false;
  const keys = keysOf(a, run);
  if (keys.length !== keysOf(b, run).length || !spendOnParts(run, 2 * keys.length)) return false;
  return keys.every((key) => Object.hasOwn(b, key) && jsonEqual((a as JsonLike)[key], (b as JsonLike)[key], run));
}
