import { mayReadList } from '../value-size.ts';
import type { Segment } from './segments.ts';

export type Getter = (root: unknown) => unknown;

/**
 * Names that exist on a prototype. Reading any other name needs no own-property check, because data comes from JSON and has only object
 * and array prototypes. Checking the name at compile time saves that check for every event.
 */
const INHERITED = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Array.prototype),
  // JSON never produces dates. Including them is free and safe.
  ...Object.getOwnPropertyNames(Date.prototype),
]);

export function isInherited(key: string): boolean {
  return INHERITED.has(key);
}

/**
 * Compiles the path to one closure. Returns `undefined` if any part of the path is missing. `[*]` returns a flat list and keeps its
 * holes.
 */
export function readerOf(segments: readonly Segment[]): Getter {
  const each = segments.findIndex((segment) => segment.kind === 'each');
  if (each !== -1) return eachReader(readerOf(segments.slice(0, each)), segments.slice(each + 1));
  if (segments.every((segment) => segment.kind === 'key' && !INHERITED.has(segment.key))) {
    return plainReader(segments.map((segment) => (segment as { key: string }).key));
  }
  return segments.map(stepReader).reduce(
    (before, step) => (root) => step(before(root)),
    (root: unknown) => root,
  );
}

type Box = Record<string, unknown>;

function plainReader(keys: string[]): Getter {
  const [a, b, c, d] = keys as [string, string, string, string];
  switch (keys.length) {
    case 0:
      return (root) => root;
    case 1:
      return (root) => (typeof root === 'object' && root !== null ? (root as Box)[a] : undefined);
    case 2:
      return (root) => {
        if (typeof root !== 'object' || root === null) return undefined;
        const first = (root as Box)[a];
        return typeof first === 'object' && first !== null ? (first as Box)[b] : undefined;
      };
    case 3:
      return (root) => {
        if (typeof root !== 'object' || root === null) return undefined;
        const first = (root as Box)[a];
        if (typeof first !== 'object' || first === null) return undefined;
        const second = (first as Box)[b];
        return typeof second === 'object' && second !== null ? (second as Box)[c] : undefined;
      };
    default: {
      const head = plainReader([a, b, c]);
      const tail = plainReader([d, ...keys.slice(4)]);
      return (root) => tail(head(root));
    }
  }
}

function stepReader(segment: Segment): Getter {
  if (segment.kind === 'index') {
    const { index } = segment;
    return (value) => (Array.isArray(value) ? value[index] : undefined);
  }
  const { key } = segment as { key: string };
  return (value) => (typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Box)[key] : undefined);
}

function eachReader(list: Getter, rest: readonly Segment[]): Getter {
  const inner = readerOf(rest);
  const nested = rest.some((segment) => segment.kind === 'each');
  return (root) => {
    const items = list(root);
    if (!Array.isArray(items) || !mayReadList(items)) return undefined;
    const out: unknown[] = [];
    for (const item of items) {
      const value = inner(item);
      if (nested && Array.isArray(value)) for (const one of value) out.push(one);
      else out.push(value);
    }
    return out;
  };
}
