export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own property or undefined: untrusted names must never reach a prototype. */
export function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Deepest nesting of an event, as collection accepts it. */
export const MAX_DEPTH = 64;

export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels <= 0) return true;
  for (const inner of Object.values(value)) if (deeperThan(inner, levels - 1)) return true;
  return false;
}

/** Defines the property instead of assigning it if assigning would run a setter of Object.prototype. */
export function put(box: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(box, key, { value, enumerable: true, configurable: true, writable: true });
  else box[key] = value;
}
