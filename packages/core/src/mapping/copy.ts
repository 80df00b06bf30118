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
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'object' && item !== null ? copyAt(item, depth + 1) : item));
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = (value as Record<string, unknown>)[key];
    put(copy, key, typeof item === 'object' && item !== null ? copyAt(item, depth + 1) : item);
  }
  return copy;
}
