import { put } from '../json.ts';
import { MAX_WRITTEN, mayReadList, mayWrite, shallowCopy, weigh, writable } from '../value-size.ts';
import { type Getter, isInherited } from './read.ts';
import type { Segment } from './segments.ts';

type Box = Record<string, unknown>;
/** Returns the container with the value set: the same container when writing in place, otherwise a copy of everything on the path. */
type Write = (container: unknown, value: unknown) => unknown;
type Remove = (container: unknown) => unknown;

function ownReader(key: string): Getter {
  return isInherited(key) ? (box) => (Object.hasOwn(box as Box, key) ? (box as Box)[key] : undefined) : (box) => (box as Box)[key];
}

export function writerOf(segments: readonly Segment[], copy: boolean): Write {
  const [segment, ...rest] = segments;
  if (!segment) return (_container, value) => value;
  const next = writerOf(rest, copy);
  if (segment.kind === 'each') return eachWriter(next, rest, copy);
  if (segment.kind === 'index') return indexWriter(segment.index, next, copy);
  const { key } = segment;
  const read = ownReader(key);
  return (container, value) => {
    const box = isBox(container) ? (copy ? writable(container) : container) : {};
    put(box, key, next(read(box), value));
    return box;
  };
}

/** Fills the positions before `index` with null. False where there is no quota left for them: the event fails then. */
export function fillTo(list: unknown[], index: number): boolean {
  if (list.length < index && !mayWrite(FILLER_CHARS * (index - list.length))) return false;
  while (list.length < index) list.push(null);
  return true;
}
/** Of a null or an empty object that fills a position, with its comma. */
export const FILLER_CHARS = 5;

function indexWriter(index: number, next: Write, copy: boolean): Write {
  return (container, value) => {
    const list: unknown[] = Array.isArray(container) ? (copy ? writable(container) : container) : [];
    if (!fillTo(list, index)) return list;
    list[index] = next(list[index], value);
    return list;
  };
}

/**
 * A list value is written element by element, so several writes to `contents[*].x` stay aligned. A missing value leaves the field out
 * of its element. A single value is written to every existing element, or creates the first one. It counts once for each: 40,000 elements
 * with the same text of 100 KB are 4 GB of JSON.
 */
function eachWriter(next: Write, rest: readonly Segment[], copy: boolean): Write {
  const element = rest.length > 0;
  return (container, value) => {
    const list: unknown[] = Array.isArray(container) ? (copy ? writable(container) : container) : [];
    if (!element) return Array.isArray(value) ? value.filter((one) => one !== undefined) : [value];
    if (!mayReadList(list)) return list;
    if (!Array.isArray(value)) {
      if (list.length > 1 && !mayWrite(list.length * weigh(value, MAX_WRITTEN))) return list;
      if (list.length === 0) list.push(undefined);
      for (let i = 0; i < list.length; i++) list[i] = next(list[i], value);
      return list;
    }
    for (let i = 0; i < value.length; i++) {
      if (value[i] !== undefined) list[i] = next(list[i], value[i]);
      else if (list[i] === undefined) list[i] = {};
    }
    return list;
  };
}

/** Returns the same container if there was nothing to remove. */
export function removerOf(segments: readonly Segment[], copy: boolean): Remove {
  const [segment, ...rest] = segments;
  if (!segment) return (container) => container;
  const last = rest.length === 0;
  const next = removerOf(rest, copy);
  if (segment.kind === 'key') return keyRemover(segment.key, last, next, copy);
  if (segment.kind === 'index') {
    const { index } = segment;
    return (container) => {
      if (!Array.isArray(container) || index >= container.length) return container;
      const after = last ? undefined : next(container[index]);
      if (!last && after === container[index]) return container;
      const list = copy ? shallowCopy(container) : container;
      if (last) list.splice(index, 1);
      else list[index] = after;
      return list;
    };
  }
  return (container) => {
    if (!Array.isArray(container) || container.length === 0 || !mayReadList(container)) return container;
    if (last) {
      if (copy) return [];
      container.length = 0;
      return container;
    }
    const list = container.map((item) => next(item));
    if (list.every((item, i) => item === container[i])) return container;
    if (copy) return list;
    for (let i = 0; i < list.length; i++) container[i] = list[i];
    return container;
  };
}

function keyRemover(key: string, last: boolean, next: Remove, copy: boolean): Remove {
  return (container) => {
    if (!isBox(container) || !Object.hasOwn(container, key)) return container;
    const before = container[key];
    const after = last ? undefined : next(before);
    if (!last && after === before) return container;
    const box = copy ? shallowCopy(container) : container;
    if (last) delete box[key];
    else put(box, key, after);
    return box;
  };
}

function isBox(value: unknown): value is Box {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
