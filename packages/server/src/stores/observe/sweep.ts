/** Removes expired rows in slices: removing a busy minute's rows at once would block other writers for too long. */
import type { Engine } from './tables.ts';
import type { Writer } from './writer.ts';

/** Rows older than these times are removed; milliseconds since 1970. */
export interface RowAges {
  traces: number;
  counters: number;
  deadLetters: number;
}
/** Traces of more events than this are removed, oldest first, whatever their age. Bounds the size of the store. */
const MOST_TRACES = 5_000_000;
const SLICE = 2_000;

interface Aged {
  table: string;
  key: string;
  /** A condition that an index can answer, and its parameter. */
  old: string;
  than: number;
}

function agedRows(engine: Engine, ages: RowAges): Aged[] {
  // Rows without a primary key are identified by their physical location.
  const place = engine === 'postgres' ? 'ctid' : 'rowid';
  const minute = Math.floor(ages.counters / 60_000);
  return [
    { table: 'trace_events', key: 'pipeline_id, event_id', old: 'processed_at < ?', than: ages.traces },
    { table: 'trace_steps', key: place, old: 'at < ?', than: ages.traces },
    { table: 'dead_letters', key: 'id', old: 'expires_at <= ?', than: ages.deadLetters },
    { table: 'counters', key: 'org_id, pipeline_id, integration_id, minute, counter', old: 'minute < ?', than: minute },
  ];
}

/** Cheap check whether there are rows to remove. Usually there are none. */
export async function hasAgedRows(writer: Writer, ages: RowAges): Promise<boolean> {
  for (const { table, old, than } of agedRows(writer.engine, ages))
    if ((await writer.all(`select 1 as found from ${table} where ${old} limit 1`, [than])).length > 0) return true;
  return (await edgeOfMost(writer)) !== undefined;
}

/** Removes some of them. Call until it returns 0. */
export async function sweepRows(writer: Writer, ages: RowAges): Promise<number> {
  const edge = await edgeOfMost(writer);
  const traces = edge === undefined ? ages.traces : Math.max(ages.traces, edge + 1);
  let removed = 0;
  for (const { table, key, old, than } of agedRows(writer.engine, { ...ages, traces })) {
    const remove = `delete from ${table} where (${key}) in (select ${key} from ${table} where ${old} limit ${SLICE})`;
    removed += await writer.run(remove, [than]);
  }
  return removed;
}

/** Processing time of the newest event beyond the limit. */
async function edgeOfMost(writer: Writer): Promise<number | undefined> {
  const [edge] = await writer.all<{ processed_at: number }>(
    `select processed_at from trace_events order by processed_at desc limit 1 offset ${MOST_TRACES}`,
  );
  return edge && Number(edge.processed_at);
}
