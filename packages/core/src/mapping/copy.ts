import { put } from '../json.ts';
import { countsCopies, isQuotaSpent, MANY_FIELDS, mayCopyFields, mayHaveManyFields, mayWrite } from '../value-size.ts';

const MAX_DEPTH = 100;

/**
 * The caller owns the payload: objects and lists from the event or the configuration are copied, so that limits and post-processing may
 * modify it. Data nested deeper than any event can be is shared. What does not fit into the event's quota is left out; then the whole
 * event fails.
 */
export function ownCopy(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? copyAt(value, 0) : value;
}

function copyAt(value: object, depth: number): unknown {
  if (depth === MAX_DEPTH) return value;
  if (!mayWrite(4) || isQuotaSpent()) return undefined;
  if (Array.isArray(value)) {
    if (!mayWrite(4 * value.length)) return undefined;
    const list: unknown[] = value.slice();
    let chars = 0;
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      if (typeof item === 'string') chars += item.length;
      else if (typeof item === 'object' && item !== null) list[i] = copyAt(item, depth + 1);
    }
    return mayWrite(chars) ? list : undefined;
  }
  if (mayHaveManyFields()) {
    const names = Object.keys(value);
    if (names.length > MANY_FIELDS) return copyFields(value as Record<string, unknown>, names, depth);
  }
  // Unlike Object.assign, the spread keeps a field named __proto__ as a field.
  const copy: Record<string, unknown> = { ...value };
  // Event data inherits nothing that for-in would list, and a list of keys costs more than the copy.
  let chars = 0;
  let fields = 0;
  for (const key in copy) {
    const item = copy[key];
    fields++;
    chars += 4 + key.length;
    if (typeof item === 'string') chars += item.length;
    else if (typeof item === 'object' && item !== null) put(copy, key, copyAt(item, depth + 1));
  }
  return mayWrite(chars) && (!countsCopies() || mayCopyFields(fields)) ? copy : undefined;
}

/** The same for an object with many fields: the spread and a second pass take twice as long. */
function copyFields(value: Record<string, unknown>, names: readonly string[], depth: number): unknown {
  if (!mayCopyFields(names.length)) return undefined;
  const copy: Record<string, unknown> = {};
  let chars = 0;
  for (const name of names) {
    const item = value[name];
    chars += 4 + name.length;
    if (typeof item === 'string') chars += item.length;
    put(copy, name, typeof item === 'object' && item !== null ? copyAt(item, depth + 1) : item);
  }
  return mayWrite(chars) ? copy : undefined;
}
