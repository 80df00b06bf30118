/**
 * SQLite keeps traces in segments: a table of events and a table of steps each, filled one after the other. The indexes of one segment
 * stay small, so a write costs the same however many events are retained, and retention drops whole tables instead of rows. The views
 * `all_trace_events` and `all_trace_steps` join the segments; SQLite merges their indexes for a sorted page.
 */
import type { Tally } from './rows.ts';
import { addFilter, prepareFilters, removeFiltersBefore } from './segment-filters.ts';
import { TABLES } from './tables.ts';
import type { Writer } from './writer.ts';

/**
 * A segment takes this many events, or a share of all: a query reads every segment, and SQLite joins at most 500 in a view. Smaller ones
 * would be cheaper to write, because more rows of a batch share a page of an index.
 */
const LEAST_EVENTS = 100_000;
const SHARE = 100;

export interface Segment {
  id: number;
  events: number;
  /** No row of ordinary retention is older, by processing time. */
  first_at: number | null;
  last_at: number | null;
}
/** What lets a query leave a segment out: when its events, and the events of its steps, were received. */
export interface SegmentRange extends Segment {
  /** Not 1 if a version without these columns has written to the segment: then the times may be wrong. */
  ranged: number;
  /** Null without events. */
  received_first: number | null;
  received_last: number | null;
  /** Null without steps. */
  steps_first: number | null;
  /** Null also if a version without this column has written steps: then it is not known. */
  steps_last: number | null;
  /** The number of segments there are. */
  present: number;
}
const RANGE_COLUMNS = ['received_first', 'received_last', 'steps_first', 'steps_last', 'ranged_events', 'ranged_at'] as const;
/** The rows that were added to a segment: how many events, the times of all rows, and what times their events were received at. */
export interface AddedRows {
  events: number;
  times: readonly number[];
  received: readonly number[];
  /** Of the events of the steps. */
  stepsReceived: Tally['stepsReceived'];
}
type Kind = 'trace_events' | 'trace_steps';

/** Hashes (`keys.ts`), in addition to the columns of the table that PostgreSQL has. */
const KEY_COLUMNS = {
  trace_events: { event_key: 'bigint', user_key: 'bigint', anonymous_key: 'bigint', name_key: 'bigint', decisions_key: 'bigint' },
  trace_steps: { event_key: 'bigint' },
} as const;

/** Decisions have their own table, `trace_texts_<id>`: most events of a pipeline have the same, and they are half of a row. */
export function segmentColumns(kind: Kind): [name: string, type: string][] {
  return [...Object.entries(TABLES[kind].columns).filter(([name]) => name !== 'decisions'), ...Object.entries(KEY_COLUMNS[kind])];
}
export const textTable = (id: number) => `trace_texts_${id}`;
export const segmentTable = (kind: Kind, id: number) => `${kind}_${id}`;

/** Oldest first. */
export function listSegments(writer: Pick<Writer, 'all'>): Promise<Segment[]> {
  return writer.all<Segment>('select id, events, first_at, last_at from trace_segments order by id');
}

/** Creates the first segment of a new store, and completes the columns of existing ones. */
export async function prepareSegments(writer: Writer): Promise<void> {
  await writer.run(
    'create table if not exists trace_segments (id integer primary key, events bigint not null, first_at bigint, last_at bigint)',
  );
  await prepareFilters(writer);
  const known = await columnNames(writer, 'trace_segments');
  for (const name of RANGE_COLUMNS) if (!known.has(name)) await writer.run(`alter table trace_segments add column ${name} bigint`);
  const segments = await listSegments(writer);
  if (segments.length === 0) return await addSegment(writer, []);
  let changed = false;
  for (const kind of ['trace_events', 'trace_steps'] as const) {
    const columns = segmentColumns(kind);
    for (const { id } of segments) {
      const table = segmentTable(kind, id);
      const present = await columnNames(writer, table);
      for (const [name, type] of columns) if (!present.has(name)) await writer.run(`alter table ${table} add column ${name} ${type}`);
    }
    // An earlier version may have made the view without the newest columns.
    const shown = await columnNames(writer, `all_${kind}`);
    if (columns.some(([name]) => !shown.has(name))) changed = true;
  }
  if (changed) await replaceViews(writer, segments);
}

async function columnNames(writer: Writer, table: string): Promise<Set<string>> {
  return new Set((await writer.all<{ name: string }>(`select name from pragma_table_info('${table}')`)).map(({ name }) => name));
}

/** The segment that takes new rows. Call inside the transaction that writes them. */
export async function openSegment(writer: Writer): Promise<number> {
  const [last] = await writer.all<Segment>('select id, events from trace_segments order by id desc limit 1');
  if (last !== undefined && last.events < LEAST_EVENTS) return last.id;
  const segments = await listSegments(writer);
  const total = segments.reduce((sum, { events }) => sum + events, 0);
  if (last !== undefined && last.events < total / SHARE) return last.id;
  if (last !== undefined) await addFilter(writer, { ...last, table: segmentTable('trace_events', last.id) });
  await addSegment(writer, segments);
  return (last?.id ?? 0) + 1;
}

/** Also for a segment that must be emptied although it is the newest. */
export async function addSegment(writer: Writer, segments: readonly Segment[]): Promise<void> {
  const id = (segments.at(-1)?.id ?? 0) + 1;
  for (const kind of ['trace_events', 'trace_steps'] as const) {
    const table = segmentTable(kind, id);
    const { required } = TABLES[kind];
    const lines = segmentColumns(kind).map(([name, type]) => `${name} ${type}${required.includes(name) ? ' not null' : ''}`);
    await writer.run(`create table ${table} (${lines.join(', ')})`);
    for (const [name, on] of INDEXES[kind]) await writer.run(`create index ${table}_${name} on ${table} ${on}`);
  }
  await writer.run(`create table ${textTable(id)} (key integer primary key, text text not null)`);
  await writer.run('insert into trace_segments (id, events) values (?, 0)', [id]);
  await replaceViews(writer, [...segments, { id, events: 0, first_at: null, last_at: null }]);
}

/** The pages go to SQLite's free list and are reused by the next segments. */
export async function dropSegment(writer: Writer, id: number): Promise<void> {
  await writer.transaction(async (tx) => {
    const left = (await listSegments(tx)).filter((segment) => segment.id !== id);
    await replaceViews(tx, left);
    for (const kind of ['trace_events', 'trace_steps'] as const) await tx.run(`drop table ${segmentTable(kind, id)}`);
    await tx.run(`drop table ${textTable(id)}`);
    await tx.run('delete from trace_segments where id = ?', [id]);
    await removeFiltersBefore(tx, left[0]?.id ?? id);
  });
}

const INDEXES: Record<Kind, [name: string, on: string][]> = {
  trace_events: [
    ['by_key', '(event_key)'],
    // The lists are in the order of received_at and event_id. Without the id, SQLite would sort whole segments for a page.
    ['by_time', '(org_id, received_at, event_id)'],
    ['by_pipeline', '(org_id, pipeline_id, received_at, event_id)'],
    ['by_name', '(org_id, name_key, received_at, event_id) where name_key is not null'],
    ['by_user', '(user_key, received_at, event_id) where user_key is not null'],
    ['by_visitor', '(anonymous_key, received_at, event_id) where anonymous_key is not null'],
    ['by_status', "(org_id, result, received_at, event_id) where result <> 'processed'"],
  ],
  trace_steps: [['by_key', '(event_key)']],
};

const namesOf = (kind: Kind) =>
  segmentColumns(kind)
    .map(([name]) => name)
    .join(', ');
/** Joined once: a query may name a hundred segments. */
const NAMES: Record<Kind, string> = { trace_events: namesOf('trace_events'), trace_steps: namesOf('trace_steps') };

/** All columns of a segment, under the names of PostgreSQL's table. */
export function segmentSelect(kind: Kind, id: number): string {
  const decisions = kind === 'trace_events' ? `, (select text from ${textTable(id)} where key = decisions_key) as decisions` : '';
  return `select ${NAMES[kind]}${decisions} from ${segmentTable(kind, id)}`;
}

/** Newest first, so that a reader which stops early has read the newest. */
async function replaceViews(writer: Writer, segments: readonly Pick<Segment, 'id'>[]): Promise<void> {
  for (const kind of ['trace_events', 'trace_steps'] as const) {
    const arms = segments.toReversed().map(({ id }) => segmentSelect(kind, id));
    await writer.run(`drop view if exists all_${kind}`);
    await writer.run(`create view all_${kind} as ${arms.join(' union all ')}`);
  }
}

/** Records the time range of the written rows, for retention and queries. */
export async function noteRows(writer: Writer, id: number, { events, times, received, stepsReceived }: AddedRows): Promise<void> {
  if (times.length === 0) return;
  const { first, last } = rangeOf(times);
  const { first: receivedFirst, last: receivedLast } = rangeOf(received);
  await writer.run(
    `update trace_segments set
      received_first = ${widened('received_first', 'min')}, received_last = ${widened('received_last', 'max')},
      steps_first = ${widened('steps_first', 'min')},
      steps_last = case when steps_last is not null or steps_first is null then ${widened('steps_last', 'max')} end,
      ranged_events = case when ${IS_RANGED} then events + ? end, ranged_at = case when ${IS_RANGED} then max(coalesce(last_at, ?), ?) end,
      events = events + ?, first_at = min(coalesce(first_at, ?), ?), last_at = max(coalesce(last_at, ?), ?)
     where id = ?`,
    [
      ...[receivedFirst, receivedLast, stepsReceived?.first, stepsReceived?.last].flatMap(twice),
      ...[events, last, last, events, first, first, last, last, id],
    ],
  );
}
/** A new segment, or one whose ranges cover all of its rows. */
const IS_RANGED = '(last_at is null or (ranged_events = events and ranged_at = last_at))';
const widened = (column: string, by: 'min' | 'max') => `coalesce(${by}(${column}, ?), ${column}, ?)`;
const twice = (value: number | undefined) => [value ?? null, value ?? null];

/** Without spreading: there may be more numbers than a call takes arguments. */
function rangeOf(numbers: readonly number[]): { first?: number; last?: number } {
  let [first, last] = [numbers[0], numbers[0]];
  if (first === undefined || last === undefined) return {};
  for (const number of numbers) {
    first = Math.min(first, number);
    last = Math.max(last, number);
  }
  return { first, last };
}

/** The segments from this id on, oldest first. */
export function listRanges(writer: Pick<Writer, 'all'>, from = 0): Promise<SegmentRange[]> {
  return writer.all(
    `select id, events, first_at, last_at, received_first, received_last, steps_first, steps_last, ${IS_RANGED} as ranged,
      (select count(*) from trace_segments) as present from trace_segments where id >= ? order by id`,
    [from],
  );
}
