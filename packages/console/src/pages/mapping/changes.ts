/** What differs between two configs, one line for each row or setting. */
import { conditionText } from '../../components/condition.ts';
import { isSameJson, writeLoose } from '../../components/loose-value.ts';
import { faultPath, type MappingRow, type Path } from './draft.ts';

export interface Change {
  kind: 'added' | 'removed' | 'changed' | 'moved';
  /** `events.Order Completed.mappings[3]`. */
  path: string;
  before?: string;
  after?: string;
}

export function changesOf(before: unknown, after: unknown, path: Path = []): Change[] {
  if (before === after || isSameJson(before, after)) return [];
  if (isPlain(before) && isPlain(after) && !isRow(before) && path.at(-1) !== 'filter')
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      changesOf(before[key], after[key], [...path, key]),
    );
  if (Array.isArray(before) && Array.isArray(after)) return changesOfList(before, after, path);
  return [change(faultPath(path), before, after)];
}

function change(path: string, before: unknown, after: unknown): Change {
  const isFilter = path.endsWith('.filter');
  if (before === undefined) return { kind: 'added', path, after: describe(after, isFilter) };
  if (after === undefined) return { kind: 'removed', path, before: describe(before, isFilter) };
  const [old, now] = [describe(before, isFilter), describe(after, isFilter)];
  // Rows that read the same differ in something that one line has no room for.
  return old === now
    ? { kind: 'changed', path, before: JSON.stringify(before), after: JSON.stringify(after) }
    : { kind: 'changed', path, before: old, after: now };
}

/** Equal elements are matched; what is left between two matches is paired in order. */
function changesOfList(before: readonly unknown[], after: readonly unknown[], path: Path): Change[] {
  const [old, now] = [before.map((one) => JSON.stringify(one)), after.map((one) => JSON.stringify(one))];
  const removed: number[] = [];
  const added: number[] = [];
  const found: Change[] = [];
  const at = (index: number) => faultPath([...path, index]);
  function settle() {
    while (removed.length > 0 && added.length > 0) {
      const [from, to] = [removed.shift() as number, added.shift() as number];
      found.push(change(at(to), before[from], after[to]));
    }
    for (const index of removed.splice(0)) found.push(change(at(index), before[index], undefined));
    for (const index of added.splice(0)) found.push(change(at(index), undefined, after[index]));
  }
  let [left, right] = [0, 0];
  for (const [from, to] of matches(old, now)) {
    while (left < from) removed.push(left++);
    while (right < to) added.push(right++);
    settle();
    [left, right] = [from + 1, to + 1];
  }
  while (left < old.length) removed.push(left++);
  while (right < now.length) added.push(right++);
  settle();
  return joinMoves(found);
}

/** A row that was removed at one place and added at another has moved. */
function joinMoves(changes: readonly Change[]): Change[] {
  const gone = changes.filter(({ kind }) => kind === 'removed');
  const moved = new Set<Change>();
  const joined = changes.map((one): Change => {
    const from = one.kind === 'added' ? gone.find((other) => !moved.has(other) && other.before === one.after) : undefined;
    if (from === undefined || one.after === undefined) return one;
    moved.add(from);
    return { kind: 'moved', path: one.path, after: one.after };
  });
  return joined.filter((one) => !moved.has(one));
}

/** Pairs of equal elements in order, as many as possible. Past this size only the equal start and end are matched. */
const MOST_CELLS = 250_000;
function matches(old: readonly string[], now: readonly string[]): [number, number][] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const [rows, columns] = [old.length - start - end, now.length - start - end];
  const middle: [number, number][] =
    rows * columns > MOST_CELLS ? [] : longest(old.slice(start, start + rows), now.slice(start, start + columns));
  return [
    ...Array.from({ length: start }, (_, index): [number, number] => [index, index]),
    ...middle.map(([a, b]): [number, number] => [a + start, b + start]),
    ...Array.from({ length: end }, (_, index): [number, number] => [old.length - end + index, now.length - end + index]),
  ];
}
function longest(old: readonly string[], now: readonly string[]): [number, number][] {
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const length = (a: number, b: number): number => lengths[a * width + b] ?? 0;
  for (let a = old.length - 1; a >= 0; a--)
    for (let b = now.length - 1; b >= 0; b--)
      lengths[a * width + b] = old[a] === now[b] ? length(a + 1, b + 1) + 1 : Math.max(length(a + 1, b), length(a, b + 1));
  const pairs: [number, number][] = [];
  for (let [a, b] = [0, 0]; a < old.length && b < now.length; )
    if (old[a] === now[b]) pairs.push([a++, b++]);
    else if (length(a + 1, b) >= length(a, b + 1)) a++;
    else b++;
  return pairs;
}

const isPlain = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isRow = (value: Record<string, unknown>): boolean => typeof value.target === 'string';

function describe(value: unknown, isFilter: boolean): string {
  if (!isPlain(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  if (isRow(value)) return rowText(value as MappingRow);
  return isFilter ? conditionText(value) : JSON.stringify(value);
}
/** `properties.total → to_number → value`. */
export function rowText(row: MappingRow): string {
  const { source, template, transforms = [] } = row;
  const from =
    source !== undefined
      ? [source].flat().join(', ')
      : template !== undefined
        ? template
        : Object.hasOwn(row, 'value')
          ? `= ${writeLoose(row.value)}`
          : '';
  const names = transforms.map((one) => (typeof one === 'string' ? one : `${one.name}(${(one.args ?? []).map(writeLoose).join(', ')})`));
  const more = [
    ...(row.required === true ? ['required'] : []),
    ...(row.default === undefined ? [] : [`else ${writeLoose(row.default)}`]),
    ...(row.value_map === undefined ? [] : [`translated ${JSON.stringify(row.value_map)}`]),
    ...(row.when === undefined ? [] : [`only when ${conditionText(row.when)}`]),
  ];
  return [[...(from === '' ? [] : [from]), ...names, row.target].join(' → '), ...more].join(', ');
}
