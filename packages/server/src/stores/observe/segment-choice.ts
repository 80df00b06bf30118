/**
 * Which segments a query has to read, so that it costs the same however many events are retained. PostgreSQL has one table, which its
 * indexes divide. Retention may drop a segment between the choice and the query: `orAll` repeats the query then.
 */
import { sql } from 'kysely';
import { kyselyWriter } from './kysely-writer.ts';
import type { ObserveDb } from './schema.ts';
import { allSteps, allTraces, listRanges, type SegmentRange, segmentSelect } from './segments.ts';

/** A page first asks this many segments, then more, then all. */
const FIRST_ASKED = [2, 12];

interface Received {
  from?: number | undefined;
  to?: number | undefined;
}
export interface NewestTraces {
  source: 'trace_events';
  /** Every event elsewhere was received at this time or before. */
  rest: number;
}

/** The events received in a range of time. */
export async function tracesBetween(observe: ObserveDb, range: Received): Promise<'trace_events'> {
  const { engine } = observe;
  if (engine === 'postgres') return allTraces(engine);
  const ranges = await listRanges(kyselyWriter(observe));
  return unionOf('trace_events', ranges, ranges.filter(hasEvents(range)));
}

/** The same, in growing parts from the newest on: a page that the first part fills needs no other. */
export async function* newestTraces(observe: ObserveDb, range: Received): AsyncGenerator<NewestTraces> {
  const { engine } = observe;
  if (engine === 'postgres') return yield { source: allTraces(engine), rest: Number.NEGATIVE_INFINITY };
  const ranges = await listRanges(kyselyWriter(observe));
  const chosen = ranges.filter(hasEvents(range)).sort((a, b) => lastOf(b) - lastOf(a) || b.id - a.id);
  for (const asked of FIRST_ASKED) {
    const next = chosen[asked];
    if (next !== undefined) yield { source: unionOf('trace_events', ranges, chosen.slice(0, asked)), rest: lastOf(next) };
  }
  yield { source: unionOf('trace_events', ranges, chosen), rest: Number.NEGATIVE_INFINITY };
}

/** The steps of events that were received in a range of time. */
export async function stepsBetween(observe: ObserveDb, { from, to }: { from: number; to: number }): Promise<'trace_steps'> {
  const { engine } = observe;
  if (engine === 'postgres') return allSteps(engine);
  const ranges = await listRanges(kyselyWriter(observe));
  const chosen = ranges.filter(
    ({ ranged, steps_first, steps_last }) =>
      ranged !== 1 || (steps_first !== null && steps_first <= to && (steps_last ?? Number.POSITIVE_INFINITY) >= from),
  );
  return unionOf('trace_steps', ranges, chosen);
}

/** Runs a query on a choice of segments, and on all if one of them is gone. */
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

function unionOf<K extends 'trace_events' | 'trace_steps'>(kind: K, all: readonly SegmentRange[], chosen: readonly SegmentRange[]): K {
  // The casts: view and segments have the columns of the table, and more.
  if (chosen.length === all.length) return `all_${kind} as ${kind}` as K;
  // Where no segment can have the rows, any one answers.
  const arms = (chosen.length > 0 ? chosen : all.slice(0, 1)).toSorted((a, b) => b.id - a.id).map(({ id }) => segmentSelect(kind, id));
  return sql`(${sql.raw(arms.join(' union all '))})`.as(kind) as unknown as K;
}
