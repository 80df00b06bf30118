import { put } from '../path/write.ts';

const MAX_DEPTH = 100;

/**
 * The caller owns the payload: objects and lists from the event or the configuration are copied, so that limits and post-processing may
 * modify it. Data nested deeper than any event can be is shared.
 */
export function ownCopy(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? copyAt(value, 0) : value;
}

function copyAt(value: object, depth: number): unknown {
  if (depth === MAX_DEPTH) return value;
  if (Array.isArray(value)) {
    const list: unknown[] = value.slice();
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      if (typeof item === 'object' && item !== null) list[i] = copyAt(item, depth + 1);
    }
    return list;
  }
  // Unlike Object.assign, the spread keeps a field named __proto__ as a field.
  const copy: Record<string, unknown> = { ...value };
  // Event data inherits nothing that for-in would list, and a list of keys costs more than the copy.
  for (const key in copy) {
    const item = copy[key];
    if (typeof item === 'object' && item !== null) put(copy, key, copyAt(item, depth + 1));
  }
  return copy;
}
