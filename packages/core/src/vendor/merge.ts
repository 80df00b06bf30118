import { isObject } from '../json.ts';

/** Merges a user's config over a variant's: objects recursively; everything else, including lists, is replaced. Changes neither argument. */
export function mergeConfig(base: unknown, over: unknown): unknown {
  if (!isObject(base) || !isObject(over)) return structuredCopy(over === undefined ? base : over);
  const merged: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(base))
    define(merged, key, Object.hasOwn(over, key) ? mergeConfig(value, over[key]) : structuredCopy(value));
  for (const [key, value] of Object.entries(over)) if (!Object.hasOwn(base, key)) define(merged, key, structuredCopy(value));
  return merged;
}

function structuredCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(structuredCopy);
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) define(copy, key, structuredCopy(inner));
  return copy;
}

/** Assignment would let a key named `__proto__` reach the prototype. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}
