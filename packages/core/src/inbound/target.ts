import { isObject, type Json, type JsonObject, own } from '../json.ts';

const PLAIN = new Set(['event', 'userId', 'anonymousId', 'messageId', 'timestamp', 'properties', 'traits']);
const INSIDE = /^(properties|traits|context)\.[^.]+(\.[^.]+)*$/;
const MAX_DEPTH = 16;

/** Returns a message if the target is invalid. */
export function checkTarget(target: string): string | undefined {
  if (PLAIN.has(target)) return undefined;
  if (!INSIDE.test(target))
    return 'is no target: use event, userId, anonymousId, messageId, timestamp, properties.<name>, traits.<name> or context.<name>';
  return target.split('.').length > MAX_DEPTH ? `is nested deeper than ${MAX_DEPTH} levels` : undefined;
}

/** Objects that `assign` made. Others are copied before it writes into them: a whole-object mapping may have put the payload's own there. */
const made = new WeakSet<object>();

/** Writes to a dotted target. Every name becomes an own property, including `__proto__`. */
export function assign(event: JsonObject, target: string, value: unknown): void {
  const names = target.split('.');
  const last = names.pop() ?? '';
  let here = event;
  for (const name of names) {
    const inside = own(here, name);
    const there = isObject(inside) ? (inside as JsonObject) : undefined;
    if (there !== undefined && made.has(there)) {
      here = there;
      continue;
    }
    const copy: JsonObject = { ...there };
    made.add(copy);
    define(here, name, copy);
    here = copy;
  }
  define(here, last, value as Json);
}

function define(object: JsonObject, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
