/**
 * Writes traces on PostgreSQL. `trace_events` has one row for an id, as earlier versions expect. When a messageId comes again after the
 * deduplication window, its older row moves to `earlier_trace_events`: it is an event of its own, and erasure needs its places in the log.
 */
import { columnsOf, insertRows, insertTogether } from './insert-rows.ts';
import { keyOfEvent, type Tally, type TraceEventRow } from './rows.ts';
import { EARLIER_TRACES } from './tables.ts';
import type { Writer } from './writer.ts';

const COLUMNS = columnsOf('trace_events');
const NAMES = COLUMNS.map(([name]) => name);
const REPLACE = `on conflict (pipeline_id, event_id) do update set ${NAMES.filter(
  (name) => !['org_id', 'pipeline_id', 'event_id'].includes(name),
)
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')}`;
const KEEP = 'on conflict (pipeline_id, event_id) do nothing';

/** `events` and `untraced`: each id once, sorted by it. */
export async function writeTables(
  tx: Writer,
  events: readonly TraceEventRow[],
  untraced: readonly TraceEventRow[],
  { replacing, steps }: Tally,
): Promise<void> {
  // Nearly always all of them are new: then nothing is asked about earlier ones.
  if ((await insertTogether(tx, 'trace_events', COLUMNS, events, KEEP)) < events.length) {
    await moveEarlier(tx, events, replacing);
    await insertRows(tx, 'trace_events', COLUMNS, events, REPLACE);
  }
  await insertRows(tx, 'trace_events', COLUMNS, untraced, KEEP);
  await insertRows(tx, 'trace_steps', columnsOf('trace_steps'), steps);
}

async function moveEarlier(tx: Writer, events: readonly TraceEventRow[], replacing: readonly TraceEventRow[]): Promise<void> {
  const replaced = new Set(replacing.map(keyOfEvent));
  const [again, repeated] = [events.filter((row) => replaced.has(keyOfEvent(row))), events.filter((row) => !replaced.has(keyOfEvent(row)))];
  await tx.run(
    `delete from ${EARLIER_TRACES} where (pipeline_id, event_id) in (select * from unnest(?::text[], ?::text[]))`,
    keysOf(again),
  );
  // A row that was just inserted, or is recorded twice, was received at the same time.
  await tx.run(
    `insert into ${EARLIER_TRACES} (${NAMES.join(', ')})
      select ${NAMES.map((name) => `old.${name}`).join(', ')} from trace_events as old
      join unnest(?::text[], ?::text[], ?::bigint[]) as new (pipeline, id, time) on old.pipeline_id = new.pipeline and old.event_id = new.id
      where old.received_at <> new.time order by old.pipeline_id, old.event_id for update of old`,
    [...keysOf(repeated), repeated.map(({ received_at }) => received_at)],
  );
}
function keysOf(rows: readonly TraceEventRow[]): [pipelines: string[], events: string[]] {
  return [rows.map(({ pipeline_id }) => pipeline_id), rows.map(({ event_id }) => event_id)];
}
