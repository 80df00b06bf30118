import { firstPresent, isRooted, type Roots, type Segment } from '../../path/path.ts';
import { ownCopy } from '../copy.ts';
import type { Field } from '../field.ts';

/** `base` is what relative paths start from: the event itself, or inside a `[*]` the element under way. */
export type Read = (event: unknown, base: unknown) => unknown;
type Paths = readonly (readonly Segment[])[];

/**
 * The value of one field, undefined where there is none. `paths` are the field's sources as seen from `base`. Without a `[*]` in the
 * target a list from a `[*]` source is written without holes, and so is any list in which a transform left some.
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
/** An address that is none among several would go out as a null, which vendors refuse with all the rest. */
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

/** The one name that is copied as it is, where that is all the field does: the commonest line of all, done without a call. */
export function plainKey(field: Field, paths: Paths | undefined, roots: Roots): string | undefined {
  if (field.origin.kind !== 'source' || field.change || field.fallback !== undefined || field.when || field.required) return undefined;
  const [path, ...others] = paths ?? field.origin.paths;
  const [segment, ...rest] = path ?? [];
  if (others.length > 0 || rest.length > 0 || segment?.kind !== 'key' || isRooted([segment], roots)) return undefined;
  return segment.key;
}

/** A list of which nothing is left is no list; one that was empty stays so. */
export function withoutHoles(value: unknown): unknown {
  if (!Array.isArray(value) || !value.some(isHole)) return value;
  const present = value.filter((one) => !isHole(one));
  return present.length === 0 ? undefined : present;
}
/** What a `[*]` source found nowhere is missing. */
function orNothing(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

function isHole(value: unknown): boolean {
  return value === undefined || value === null;
}
