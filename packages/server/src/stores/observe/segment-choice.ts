/**
 * Which segments a query has to read, so that it costs the same however many events are retained. PostgreSQL has one table, which its
 * indexes divide. Retention may drop a segment between the choice and the query: `orAll` repeats the query then.
 */
import { sql } from 'kysely';
import { allTraces } from './all-traces.ts';
import { keyOf } from './keys.ts';
import { kyselyWriter } from './kysely-writer.ts';
import type { TraceEventRow } from './rows.ts';
import type { ObserveDb } from './schema.ts';
import { withKey } from './segment-filters.ts';
import { listRanges, type SegmentRange, segmentSelect } from './segments.ts';

/** A page first reads this many segments, then more, then all. */
const FIRST_ASKED = [2, 12];
/** Where more may have a key, all are asked. That statement is prepared already, and preparing a segment takes as long as asking four. */
const MOST_WITH_KEY = 24;

interface Received {
  from?: number | undefined;
  to?: number | undefined;
}
export interface NewestTraces {
  source: 'trace_events';
  /** Every event elsewhere was received at this time or before. */
  rest: number;
}

/** The events received in a range of time. `key`: see `withKey`. */
export async function tracesBetween(observe: ObserveDb, range: Received, key?: number): Promise<'trace_events'> {
  const { engine } = observe;
  if (engine === 'postgres') return allTraces(engine);
  const { ranges, chosen } = await choose(observe, range, key);
  return unionOf(ranges, chosen);
}

/** The same, in growing parts from the newest on: a page that the first part fills needs no other. */
export async function* newestTraces(observe: ObserveDb, range: Received, key?: number): AsyncGenerator<NewestTraces> {
  const { engine } = observe;
  if (engine === 'postgres') return yield { source: allTraces(engine), rest: Number.NEGATIVE_INFINITY };
  const { ranges, chosen } = await choose(observe, range, key);
  chosen.sort((a, b) => lastOf(b) - lastOf(a) || b.id - a.id);
  for (const asked of FIRST_ASKED) {
    const next = chosen[asked];
    if (next !== undefined) yield { source: unionOf(ranges, chosen.slice(0, asked)), rest: lastOf(next) };
  }
  yield { source: unionOf(ranges, chosen), rest: Number.NEGATIVE_INFINITY };
}

async function choose(observe: ObserveDb, range: Received, key: number | undefined) {
  const ranges = await currentRanges(observe);
  const inTime = ranges.filter(hasEvents(range));
  if (key === undefined || inTime.length < 2) return { ranges, chosen: inTime };
  const chosen = await withKey(kyselyWriter(observe), inTime, key);
  return { ranges, chosen: chosen.length > MOST_WITH_KEY ? inTime : chosen };
}

/** No event that was processed at this time or later was received before the returned time. Undefined: not known. */
export async function receivedSince(observe: ObserveDb, processedFrom: number): Promise<number | undefined> {
  if (observe.engine === 'postgres') return undefined;
  const chosen = (await currentRanges(observe)).filter(({ last_at }) => last_at !== null && last_at >= processedFrom);
  if (chosen.some(({ ranged }) => ranged !== 1)) return undefined;
  return Math.min(...chosen.map(({ received_first }) => received_first ?? Number.POSITIVE_INFINITY));
}

/** The steps of these events, and of others with equal keys. Undefined: they have none. SQLite only. */
export async function stepsOf(
  observe: ObserveDb,
  events: readonly Pick<TraceEventRow, 'event_id' | 'received_at'>[],
): Promise<'trace_steps' | undefined> {
  const keyed = events.map(({ event_id, received_at }) => ({ key: keyOf(event_id), at: Number(received_at) }));
  const arms = (await currentRanges(observe)).flatMap(({ id, ranged, steps_first, steps_last }) => {
    const from = steps_first ?? Number.POSITIVE_INFINITY;
    const to = steps_last ?? Number.POSITIVE_INFINITY;
    const keys = keyed.filter(({ at }) => ranged !== 1 || (from <= at && at <= to)).map(({ key }) => key);
    if (keys.length === 0) return [];
    // A page of a person has one event in most segments. Unpacking a list of one costs more than looking its steps up.
    const isOne = keys.length === 1 ? sql`= ${keys[0]}` : sql`in (select value from json_each(${JSON.stringify(keys)}))`;
    return sql`${sql.raw(segmentSelect('trace_steps', id))} where event_key ${isOne}`;
  });
  if (arms.length === 0) return undefined;
  // The cast: a union of segments has the columns of the table.
  return sql`(${sql.join(arms, sql.raw(' union all '))})`.as('trace_steps') as unknown as 'trace_steps';
}

/** The segments as they were last read, for each store. */
const lastRead = new WeakMap<ObserveDb['db'], SegmentRange[]>();

/** Oldest first. Reads only the newest, because no other takes rows, and all of them again if one was dropped. */
async function currentRanges(observe: ObserveDb): Promise<SegmentRange[]> {
  const writer = kyselyWriter(observe);
  const known = lastRead.get(observe.db) ?? [];
  let ranges = [...known.slice(0, -1), ...(await listRanges(writer, known.at(-1)?.id))];
  if (ranges.length !== ranges.at(-1)?.present) ranges = await listRanges(writer);
  lastRead.set(observe.db, ranges);
  return ranges;
}

/** Runs a query on a choice of segments, and on all if one of them was dropped meanwhile. */
export async function orAll<S, T>(chosen: S, all: S, query: (source: S) => Promise<T>): Promise<T> {
  try {
    return await query(chosen);
  } catch (error) {
    if (error instanceof Error && error.message.includes('no such table')) return await query(all);
    throw error;
  }
}

const lastOf = ({ ranged, received_last }: SegmentRange) => (ranged === 1 ? (received_last ?? 0) : Number.POSITIVE_INFINITY);
function hasEvents({ from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: Received) {
  return ({ ranged, received_first, received_last }: SegmentRange) =>
    ranged !== 1 || (received_first !== null && received_last !== null && received_last >= from && received_first <= to);
}

function unionOf(all: readonly SegmentRange[], chosen: readonly SegmentRange[]): 'trace_events' {
  if (chosen.length === all.length) return allTraces('sqlite');
  // Where no segment can have the rows, any one answers.
  const arms = (chosen.length > 0 ? chosen : all.slice(0, 1))
    .toSorted((a, b) => b.id - a.id)
    .map(({ id }) => segmentSelect('trace_events', id));
  // The cast: a union of segments has the columns of the table.
  return sql`(${sql.raw(arms.join(' union all '))})`.as('trace_events') as unknown as 'trace_events';
}
