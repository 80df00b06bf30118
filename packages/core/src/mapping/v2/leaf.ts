import { firstPresent, isRooted, type Roots, type Segment } from '../../path/path.ts';
import { isInherited } from '../../path/read.ts';
import { ownCopy } from '../copy.ts';
import type { Field } from '../field.ts';

/** `base` is the start of relative paths: the event, or the current element inside a `[*]`. */
export type Read = (event: unknown, base: unknown) => unknown;
type Paths = readonly (readonly Segment[])[];

/**
 * Reads the value of one field; undefined if there is none. `paths` are the field's sources relative to `base`. If the target has no
 * `[*]`, holes left by a `[*]` source or by a transform are removed from the list.
 */
export function readField(field: Field, paths: Paths | undefined, roots: Roots, keepHoles: boolean): Read {
  const { change, fallback } = field;
  const raw = readOrigin(field, paths, roots, change === undefined);
  const sources = paths ?? (field.origin.kind === 'source' ? field.origin.paths : []);
  const compact = !keepHoles && sources.some((path) => path.some((segment) => segment.kind === 'each'));
  const changed: Read = !change ? raw : keepHoles || compact ? changedBy(change, raw) : changedWhole(change, raw);
  const whole: Read = compact ? (event, base) => orNothing(withoutHoles(changed(event, base))) : changed;
  if (fallback === undefined) return whole;
  return (event, base) => {
    const value = whole(event, base);
    return value === undefined ? ownCopy(fallback) : value;
  };
}

type Change = NonNullable<Field['change']>;
/** Transforms never modify their input, so only their result is copied: it may be far smaller (a total) or none at all. */
function changedBy(change: Change, raw: Read): Read {
  return (event, base) => {
    const value = change(raw(event, base), event);
    return typeof value === 'object' ? ownCopy(value) : value;
  };
}
/**
 * Removes list elements without a result. One invalid address in a list would be sent as null, and vendors would reject the rest with
 * it.
 */
function changedWhole(change: Change, raw: Read): Read {
  return (event, base) => {
    const value = change(raw(event, base), event);
    return typeof value === 'object' ? withoutHoles(ownCopy(value)) : value;
  };
}

function readOrigin(field: Field, paths: Paths | undefined, roots: Roots, copied: boolean): Read {
  const { origin } = field;
  if (origin.kind === 'template') return (event) => origin.render(event);
  if (origin.kind === 'value') {
    const { value } = origin;
    return copied && typeof value === 'object' ? () => ownCopy(value) : () => value;
  }
  const get = firstPresent(paths ?? origin.paths, roots);
  if (!copied) return (_event, base) => get(base);
  return (_event, base) => {
    const value = get(base);
    return typeof value === 'object' ? (value === null ? undefined : ownCopy(value)) : value;
  };
}

/** What `required` takes for a missing value: an empty text too, since vendors reject it like a missing field. */
export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every(isEmpty) : value === undefined || value === '';
}

/** The key of a field that only copies it unchanged, and the path of the object that has it. */
export interface PlainField {
  parent: readonly Segment[];
  key: string;
}
/** The most common mapping. Callers inline it. Undefined for any other. */
export function plainField(field: Field, paths: Paths | undefined, roots: Roots): PlainField | undefined {
  if (field.origin.kind !== 'source' || field.change || field.fallback !== undefined || field.when || field.required) return undefined;
  const [path = [], ...others] = paths ?? field.origin.paths;
  const last = path.at(-1);
  if (others.length > 0 || last?.kind !== 'key' || isInherited(last.key) || isRooted(path, roots)) return undefined;
  return path.some(({ kind }) => kind === 'each') ? undefined : { parent: path.slice(0, -1), key: last.key };
}

/** Returns undefined if only holes remain. A list that was empty stays empty. */
export function withoutHoles(value: unknown): unknown {
  if (!Array.isArray(value) || !value.some(isHole)) return value;
  const present = value.filter((one) => !isHole(one));
  return present.length === 0 ? undefined : present;
}
/** A `[*]` source without a match counts as missing. */
function orNothing(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

function isHole(value: unknown): boolean {
  return value === undefined || value === null;
}
