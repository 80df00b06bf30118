import { forgetCopies, mayReadList } from '../value-size.ts';
import { type Getter, readerOf } from './read.ts';
import { formatPath, parsePath, type Segment } from './segments.ts';
import { removerOf, writerOf } from './write.ts';

export type { Getter } from './read.ts';
export { formatPath, parsePath, type Segment } from './segments.ts';

export interface PathFault {
  ok: false;
  message: string;
}
export interface CompiledPath {
  ok: true;
  segments: readonly Segment[];
  get: Getter;
}
export interface CompiledSetter {
  ok: true;
  segments: readonly Segment[];
  /** Modifies `root`, which must be an object (or an array for `[n]`). */
  set(root: object, value: unknown): void;
  /** Returns a copy of `root` with the value set. Parts off the path are shared; `root` is not modified. */
  with(root: unknown, value: unknown): unknown;
}
export interface CompiledDeleter {
  ok: true;
  segments: readonly Segment[];
  /** Modifies `root`. */
  delete(root: object): void;
  /** Returns a copy of `root` without the value, or `root` itself if there was nothing to remove. */
  without(root: unknown): unknown;
}

export function compilePath(text: string): CompiledPath | PathFault {
  const parsed = parsePath(text);
  return parsed.ok ? { ok: true, segments: parsed.segments, get: readerOf(parsed.segments) } : parsed;
}

export interface CompiledGetter {
  ok: true;
  get: Getter;
  /** The parsed alternatives, in order. */
  paths: readonly (readonly Segment[])[];
}

/** Roots besides the event whose values are known at compile time: `parameters.pixel_id` is read once, not once per event. */
export type Roots = Readonly<Record<string, unknown>>;

/**
 * With several paths, the first value that is neither missing nor null is used. An empty text, which a form leaves of a blank field, is
 * used only where no other path has a value.
 */
export function compileGetter(source: string | readonly string[], roots?: Roots): CompiledGetter | (PathFault & { index: number }) {
  const texts = typeof source === 'string' ? [source] : source;
  const paths: (readonly Segment[])[] = [];
  for (const [index, text] of texts.entries()) {
    const parsed = parsePath(text);
    if (!parsed.ok) return { ...parsed, index };
    paths.push(parsed.segments);
  }
  if (paths.length === 0) return { ok: false, index: 0, message: 'At least one path is needed.' };
  return { ok: true, paths, get: firstPresent(paths, roots) };
}

/**
 * Alternatives inside one list (`products[*].product_id`, `products[*].sku`) are resolved per element: one product without an id must
 * not hide the ids of the others.
 */
export function firstPresent(paths: readonly (readonly Segment[])[], roots?: Roots): Getter {
  const [first] = paths;
  if (paths.length === 1 && first !== undefined) return getterOf(first, roots);
  const shared = sharedList(paths);
  if (shared) {
    const list = getterOf(shared.list, roots);
    const inner = firstPresent(shared.rests);
    return (root) => {
      const items = list(root);
      return Array.isArray(items) && mayReadList(items) ? withoutNothing(items.map(inner)) : undefined;
    };
  }
  const getters = paths.map((path) => getterOf(path, roots));
  return (root) => {
    let blank: unknown;
    for (const get of getters) {
      const value = get(root);
      if (value === '') blank = value;
      else if (value !== undefined && value !== null) return value;
    }
    return blank;
  };
}

/** If all paths start with the same list: that list, and the rest of each path. Otherwise undefined. */
export function sharedList(paths: readonly (readonly Segment[])[]): { list: Segment[]; rests: Segment[][] } | undefined {
  const parts = paths.map((path) => {
    const at = path.findIndex((segment) => segment.kind === 'each');
    return at === -1 ? undefined : { list: path.slice(0, at), rest: path.slice(at + 1) };
  });
  const [first] = parts;
  if (first === undefined) return undefined;
  const rests: Segment[][] = [];
  for (const part of parts) {
    if (part === undefined || formatPath(part.list) !== formatPath(first.list)) return undefined;
    rests.push(part.rest);
  }
  return { list: first.list, rests };
}

export function compileSetter(text: string): CompiledSetter | PathFault {
  const parsed = parsePath(text);
  if (!parsed.ok) return parsed;
  const { segments } = parsed;
  if (segments.length === 0) return { ok: false, message: 'The root itself cannot be a target.' };
  const inPlace = writerOf(segments, false);
  const copying = writerOf(segments, true);
  return {
    ok: true,
    segments,
    with: (root, value) => {
      if (typeof value === 'object' && value !== null) forgetCopies();
      return copying(root, value);
    },
    set: (root, value) => {
      inPlace(root, value);
    },
  };
}

export function compileDeleter(text: string): CompiledDeleter | PathFault {
  const parsed = parsePath(text);
  if (!parsed.ok) return parsed;
  const { segments } = parsed;
  if (segments.length === 0) return { ok: false, message: 'The root itself cannot be deleted.' };
  const inPlace = removerOf(segments, false);
  return {
    ok: true,
    segments,
    without: removerOf(segments, true),
    delete: (root) => {
      inPlace(root);
    },
  };
}

/** A `[*]` path that matches nothing is missing. It does not return a list of holes. */
function getterOf(path: readonly Segment[], roots?: Roots): Getter {
  const get = readerOf(path);
  if (roots && isRooted(path, roots)) {
    const value = withoutNothing(get(roots));
    return () => value;
  }
  if (!path.some((segment) => segment.kind === 'each')) return get;
  return (root) => withoutNothing(get(root));
}

export function isRooted(path: readonly Segment[], roots: Roots): boolean {
  const first = path[0];
  return first?.kind === 'key' && Object.hasOwn(roots, first.key);
}

function withoutNothing(value: unknown): unknown {
  return Array.isArray(value) && value.every((one) => one === undefined || one === null) ? undefined : value;
}
