/**
 * Rules on paths: `traits.email`, `properties.products[*].note`, `traits.*` (any name), `**.email` (at any depth).
 * A rule on an object or a list reaches every value inside it, except that `drop` removes it whole.
 */
import type { PiiAction } from '../config/resources.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { isObject } from '../json.ts';
import { parsePath, type Segment } from '../path/path.ts';
import type { ConfigFault } from '../vendor/compiled.ts';
import { type HashBudget, REDACTED } from './digest.ts';

/** First segments that a rule may name. The id, type and timestamp of an event stay as they are. */
const ROOTS: ReadonlySet<string> = new Set(['properties', 'traits', 'context', 'user_id', 'anonymous_id', 'group_id', 'name', 'event']);
/** Cannot be dropped whole: a track event has a name, and later steps write to the context. */
const NEEDED: ReadonlySet<string> = new Set(['context', 'event']);

export interface CompiledFieldRule {
  path: string;
  action: PiiAction;
  /** Returns whether anything changed. */
  apply(event: CanonicalEvent, hashes: HashBudget): boolean;
}

export function compileFieldRule(
  rule: { path: string; action: PiiAction },
  field: string,
  faults: ConfigFault[],
): CompiledFieldRule | undefined {
  const parsed = parsePath(rule.path);
  if (!parsed.ok) {
    faults.push({ field: `${field}.path`, message: parsed.message });
    return undefined;
  }
  const segments = simplified(parsed.segments);
  const [first, ...rest] = segments;
  if (first?.kind !== 'key' || !(ROOTS.has(first.key) || first.key === '**') || (first.key === '**' && rest.length === 0)) {
    faults.push({ field: `${field}.path`, message: `must begin with one of ${[...ROOTS].join(', ')} or **` });
    return undefined;
  }
  const { action } = rule;
  const isDeep = segments.filter(isAnyDepth).length > 1;
  if (action === 'drop' && rest.length === 0 && NEEDED.has(first.key)) {
    faults.push({ field: `${field}.path`, message: `${first.key} cannot be dropped whole` });
    return undefined;
  }
  return {
    path: rule.path,
    action,
    apply(event, hashes) {
      let changed = false;
      const cover: Cover = { action, hashes, ...(isDeep && { seen: segments.map(() => new Set<object>()) }) };
      for (const root of rootsOf(first.key, event)) if (root !== undefined && walk(root, segments, 0, cover)) changed = true;
      return changed;
    },
  };
}
/** `**.**` means the same as `**`, and `traits.**` the same as `traits.*`: everything inside. */
function simplified(segments: readonly Segment[]): Segment[] {
  const kept = segments.filter((segment, i) => !isAnyDepth(segment) || !isAnyDepth(segments[i - 1]));
  return kept.map((segment, i) => (i > 0 && i === kept.length - 1 && isAnyDepth(segment) ? { kind: 'key', key: '*' } : segment));
}

function isAnyDepth(segment: Segment | undefined): boolean {
  return segment?.kind === 'key' && segment.key === '**';
}

/** Mobile SDKs send the user's traits twice: a rule on `traits` also holds for `context.traits`. */
function rootsOf(first: string, event: CanonicalEvent): unknown[] {
  if (first === '**') return [event.properties, event.traits, event.context];
  return first === 'traits' ? [event, event.context] : [event];
}

interface Cover {
  action: PiiAction;
  hashes: HashBudget;
  /**
   * By segment, what its `**` has visited. Only where there are several: the ways to divide 60 levels among ten of them are more than a
   * process can try. With one, everything is visited once.
   */
  seen?: readonly Set<object>[];
}

function walk(container: unknown, segments: readonly Segment[], at: number, cover: Cover): boolean {
  if (typeof container !== 'object' || container === null) return false;
  const segment = segments[at];
  if (segment === undefined) return false;
  const last = at === segments.length - 1;
  if (isAnyDepth(segment)) return anyDepth(container, segments, at, cover);
  if (Array.isArray(container)) {
    if (segment.kind === 'index') return segment.index < container.length && reach(container, segment.index, last, segments, at, cover);
    if (segment.kind === 'each' || segment.key === '*') {
      let changed = false;
      // Backwards, so that dropping an element does not move the elements still to come.
      for (let i = container.length - 1; i >= 0; i--) if (reach(container, i, last, segments, at, cover)) changed = true;
      return changed;
    }
    // `products.note` on a list means the `note` of every element.
    let changed = false;
    for (const item of container) if (walk(item, segments, at, cover)) changed = true;
    return changed;
  }
  const object = container as Record<string, unknown>;
  if (segment.kind === 'index') return false;
  if (segment.kind === 'key' && segment.key !== '*')
    return Object.hasOwn(object, segment.key) && reach(object, segment.key, last, segments, at, cover);
  let changed = false;
  for (const key of Object.keys(object)) if (reach(object, key, last, segments, at, cover)) changed = true;
  return changed;
}

function anyDepth(container: object, segments: readonly Segment[], at: number, cover: Cover): boolean {
  const seen = cover.seen?.[at];
  if (seen?.has(container)) return false;
  seen?.add(container);
  let changed = at + 1 < segments.length && walk(container, segments, at + 1, cover);
  for (const value of Object.values(container)) {
    if (typeof value === 'object' && value !== null && anyDepth(value, segments, at, cover)) changed = true;
  }
  return changed;
}

function reach(
  container: unknown[] | Record<string, unknown>,
  key: string | number,
  last: boolean,
  segments: readonly Segment[],
  at: number,
  cover: Cover,
): boolean {
  const box = container as Record<string | number, unknown>;
  if (!last) return walk(box[key], segments, at + 1, cover);
  if (cover.action === 'drop') {
    if (Array.isArray(container)) container.splice(key as number, 1);
    else delete box[key];
    return true;
  }
  const value = box[key];
  const covered = coveredValue(value, cover.action, cover.hashes);
  if (covered === value) return typeof value === 'object' && value !== null;
  box[key] = covered;
  return true;
}

/** Objects and lists are covered in place, leaf by leaf. */
function coveredValue(value: unknown, action: 'hash' | 'redact', hashes: HashBudget): unknown {
  if (value === null || value === undefined) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = coveredValue(value[i], action, hashes);
    return value;
  }
  if (isObject(value)) {
    // An own property named __proto__ is data too; assigning to it writes the property itself.
    for (const key of Object.keys(value)) value[key] = coveredValue(value[key], action, hashes);
    return value;
  }
  if (action === 'redact') return REDACTED;
  return typeof value === 'string' && value.trim() === '' ? value : hashes.hash(String(value));
}
