/** Targets with `[*]` or `[n]`. Lists are built element by element, so all mappings to the same list stay aligned. */
import { formatPath, isRooted, type Segment, sharedList } from '../../path/path.ts';
import { type Getter, readerOf } from '../../path/read.ts';
import { FILLER_CHARS, fillTo, writerOf } from '../../path/write.ts';
import type { Steps } from '../../steps.ts';
import { isQuotaSpent, isStepLong, MAX_WRITTEN, mayReadList, mayWrite, weigh } from '../../value-size.ts';
import { type Read, readField } from './leaf.ts';
import { type InSteps, NEVER_LAID, type Overlay, type Placed, type TreeContext, type TreeNode } from './node.ts';

/** Mappings from the same source list: each source element creates one target element. */
interface Group {
  list: Getter;
  element: TreeNode;
  /** Of the names in one element. */
  chars: number;
}
/**
 * A mapping that does not iterate over a source list. A list value is distributed over the elements; a single value goes to all of
 * them.
 */
interface Single {
  read: Read;
  when: ((event: unknown) => boolean) | undefined;
  write: (element: unknown, value: unknown) => unknown;
  /** False for constants: they are added to existing elements but never create one. */
  makes_element: boolean;
  /** Of the names in one element. */
  chars: number;
}

interface List {
  list: Segment[];
  placed: Placed[];
}
interface Indexed {
  index: number;
  node: TreeNode;
}

export function* listNode(placed: readonly Placed[], context: TreeContext): Steps<TreeNode> {
  const each = placed.filter(({ target }) => target[0]?.kind === 'each').map((one) => ({ ...one, target: one.target.slice(1) }));
  const { lists, singles } = divide(each, context);
  const isFast = singles.length === 0 && (lists.length === 0 || (lists.length === 1 && each.length === placed.length));
  const below = isFast || context.laid_over ? context : { ...context, laid_over: true };
  const inside = { ...below, in_list: true };
  const groups: Group[] = [];
  for (const list of lists)
    groups.push({ list: readerOf(list.list), element: yield* context.compile(list.placed, inside), chars: namesIn(list.placed) });
  const indexed = yield* indexNodes(placed, below);
  const bare = each.every(({ target }) => target.length === 0);
  const [group] = groups;
  const fast = isFast ? (group ? buildFromList(group, bare) : buildIndexed(indexed)) : undefined;
  if (fast && !context.laid_over) {
    const inSteps: InSteps | undefined = group && !context.in_list ? (_, event, base) => listInSteps(group, bare, event, base) : undefined;
    return { build: fast, overlay: NEVER_LAID, inSteps };
  }
  const parts = { groups, singles, indexed, bare };
  const overlay = overlayList(parts);
  return {
    build: fast ?? ((event, base) => overlay(undefined, event, base)),
    overlay,
    inSteps: context.in_list ? undefined : overlayInSteps(parts),
  };
}
interface ListParts {
  groups: readonly Group[];
  singles: readonly Single[];
  indexed: readonly Indexed[];
  /** The elements themselves are mapped, not their fields. */
  bare: boolean;
}

function namesIn(placed: readonly Placed[]): number {
  let chars = 0;
  for (const { target } of placed) for (const segment of target) chars += segment.kind === 'key' ? segment.key.length + 4 : 4;
  return chars;
}

function divide(each: readonly Placed[], context: TreeContext): { lists: List[]; singles: Single[] } {
  const lists = new Map<string, List>();
  const singles: Single[] = [];
  for (const one of each) {
    const { origin } = one.field;
    const paths = one.paths ?? (origin.kind === 'source' ? origin.paths : []);
    const shared = origin.kind === 'source' ? sharedList(paths) : undefined;
    if (!shared || isRooted(shared.list, context.roots)) {
      const read = readField(one.field, one.paths, context.roots, true);
      singles.push({
        read,
        when: one.field.when,
        write: writerOf(one.target, true),
        makes_element: origin.kind !== 'value',
        chars: namesIn([one]),
      });
      continue;
    }
    const name = formatPath(shared.list);
    const group = lists.get(name) ?? { list: shared.list, placed: [] };
    group.placed.push({ ...one, paths: shared.rests });
    lists.set(name, group);
  }
  return { lists: [...lists.values()], singles };
}

function* indexNodes(placed: readonly Placed[], context: TreeContext): Steps<Indexed[]> {
  const byIndex = new Map<number, Placed[]>();
  for (const one of placed) {
    const segment = one.target[0];
    if (segment?.kind !== 'index') continue;
    byIndex.set(segment.index, [...(byIndex.get(segment.index) ?? []), { ...one, target: one.target.slice(1) }]);
  }
  const indexed: Indexed[] = [];
  for (const [index, group] of [...byIndex].sort(([a], [b]) => a - b))
    indexed.push({ index, node: yield* context.compile(group, context) });
  return indexed;
}

/** The common case: one source list, one target list. */
function buildFromList({ list, element, chars }: Group, bare: boolean): Read {
  const { build } = element;
  return (event, base) => {
    const items = list(base);
    if (!mayBuildFrom(items, chars)) return undefined;
    const out: unknown[] = [];
    let found = false;
    for (let i = 0; i < items.length; i++) {
      const value = build(event, items[i]);
      if (value !== undefined) {
        found = true;
        out.push(value);
      } else if (!bare) out.push({});
    }
    return found ? out : undefined;
  };
}
function* listInSteps({ list, element, chars }: Group, bare: boolean, event: unknown, base: unknown): Steps<unknown> {
  const items = list(base);
  if (!mayBuildFrom(items, chars)) return undefined;
  const out: unknown[] = [];
  let found = false;
  for (let i = 0; i < items.length; i++) {
    if (i % STEP_ELEMENTS === STEP_ELEMENTS - 1) yield;
    const value = element.build(event, items[i]);
    found ||= value !== undefined;
    if (value !== undefined || !bare) out.push(value ?? {});
  }
  return found ? out : undefined;
}
/** Elements between two yields. */
const STEP_ELEMENTS = 4_000;

function mayBuildFrom(items: unknown, chars: number): items is unknown[] {
  return Array.isArray(items) && mayReadList(items) && mayWrite(items.length * chars);
}

/** `events[0].name`: positions without a mapping are null. */
function buildIndexed(indexed: readonly Indexed[]): Read {
  return (event, base) => {
    let out: unknown[] | undefined;
    for (const { index, node } of indexed) {
      const value = node.build(event, base);
      if (value === undefined) continue;
      out ??= [];
      if (!fillTo(out, index)) return undefined;
      out.push(value);
    }
    return out;
  };
}

function overlayList(parts: ListParts): Overlay {
  const { groups, singles } = parts;
  return (under, event, base) => {
    const out: unknown[] = Array.isArray(under) ? under.slice() : [];
    for (const { list, element, chars } of groups) {
      const items = list(base);
      if (!mayBuildFrom(items, chars)) continue;
      for (let i = 0; i < items.length; i++) out[i] = element.overlay(out[i], event, items[i]);
    }
    for (const single of singles) deal(single, out, event, base);
    return finishOverlay(parts, out, under, event, base);
  };
}
function overlayInSteps(parts: ListParts): InSteps {
  const { groups, singles } = parts;
  return function* (under, event, base) {
    const out: unknown[] = Array.isArray(under) ? under.slice() : [];
    for (const { list, element, chars } of groups) {
      const items = list(base);
      if (!mayBuildFrom(items, chars)) continue;
      for (let i = 0; i < items.length; i++) {
        if (i % STEP_ELEMENTS === STEP_ELEMENTS - 1) yield;
        out[i] = element.overlay(out[i], event, items[i]);
      }
    }
    for (const single of singles) {
      if (isStepLong()) {
        if (isQuotaSpent()) return undefined;
        yield;
      }
      deal(single, out, event, base);
    }
    return finishOverlay(parts, out, under, event, base);
  };
}
function finishOverlay({ indexed, bare }: ListParts, out: unknown[], under: unknown, event: unknown, base: unknown): unknown {
  const filled = bare ? out.filter((one) => one !== undefined) : out;
  for (const { index, node } of indexed) {
    const value = node.overlay(filled[index], event, base);
    if (value === undefined) continue;
    if (!mayWrite(Math.max(0, index - filled.length) * FILLER_CHARS)) return undefined;
    filled[index] = value;
  }
  if (filled.every((one) => one === undefined)) return under;
  for (let i = 0; i < filled.length; i++) if (filled[i] === undefined) filled[i] = bare ? null : {};
  return filled;
}

function deal(single: Single, out: unknown[], event: unknown, base: unknown): void {
  if (single.when && !single.when(event)) return;
  const value = single.read(event, base);
  if (value === undefined) return;
  if (Array.isArray(value)) {
    if (!mayWrite(value.length * single.chars)) return;
    for (let i = 0; i < value.length; i++) if (value[i] !== undefined && value[i] !== null) out[i] = single.write(out[i], value[i]);
    return;
  }
  if (out.length === 0 && single.makes_element) out.push(undefined);
  if (!mayWrite(out.length * (single.chars + weigh(value, MAX_WRITTEN)))) return;
  for (let i = 0; i < out.length; i++) out[i] = single.write(out[i], value);
}
