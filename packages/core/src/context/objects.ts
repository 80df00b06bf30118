import { isObject, type Json, type JsonObject, own } from '../json.ts';

/** Writes an own property of any name. Assigning `__proto__` would change the prototype instead. */
export function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

export function ownObject(object: JsonObject | undefined, key: string): JsonObject | undefined {
  if (object === undefined) return undefined;
  const value = own(object, key);
  return isObject(value) ? (value as JsonObject) : undefined;
}

/** Returns the own property if it is a non-empty string. */
export function ownText(object: JsonObject | undefined, key: string): string | undefined {
  if (object === undefined) return undefined;
  const value = own(object, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Adds `found` to `object[key]` without overwriting values the client sent. Returns whether anything was added. */
export function addMissing(object: JsonObject, key: string, found: JsonObject): boolean {
  const present = own(object, key);
  if (present === undefined || present === null) {
    object[key] = { ...found };
    return true;
  }
  if (!isObject(present)) return false;
  let added = false;
  for (const name of Object.keys(found)) {
    if (Object.hasOwn(present, name)) continue;
    present[name] = found[name];
    added = true;
  }
  return added;
}
