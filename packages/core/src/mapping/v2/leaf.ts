import { firstPresent, isRooted, type Roots, type Segment } from '../../path/path.ts';
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
  const raw = readOrigin(field, paths, roots);
  const { change, fallback } = field;
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
function changedBy(change: Change, raw: Read): Read {
  return (event, base) => change(raw(event, base), event);
}
/**
 * Removes list elements without a result. One invalid address in a list would be sent as null, and vendors would reject the rest with
 * it.
 */
function changedWhole(change: Change, raw: Read): Read {
  return (event, base) => {
    const value = change(raw(event, base), event);
    return typeof value === 'object' ? withoutHoles(value) : value;
  };
}

function readOrigin(field: Field, paths: Paths | undefined, roots: Roots): Read {
  const { origin } = field;
  if (origin.kind === 'template') return (event) => origin.render(event);
  if (origin.kind === 'value') {
    const { value } = origin;
    return typeof value === 'object' ? () => ownCopy(value) : () => value;
  }
  const get = firstPresent(paths ?? origin.paths, roots);
  return (_event, base) => {
    const value = get(base);
    return typeof value === 'object' ? (value === null ? undefined : ownCopy(value)) : value;
  };
}

/** Returns the name if the field only copies one key unchanged. This is the most common mapping, and callers inline it. */
export function plainKey(field: Field, paths: Paths | undefined, roots: Roots): string | undefined {
  if (field.origin.kind !== 'source' || field.change || field.fallback !== undefined || field.when || field.required) return undefined;
  const [path, ...others] = paths ?? field.origin.paths;
  const [segment, ...rest] = path ?? [];
  if (others.length > 0 || rest.length > 0 || segment?.kind !== 'key' || isRooted([segment], roots)) return undefined;
  return segment.key;
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
