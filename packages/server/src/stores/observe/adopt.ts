/** Moves traces that a version before segments wrote into the newest segment, some at a time. SQLite only. */
import { ANY_TIME, type TraceEventRow, type TraceStepRow } from './rows.ts';
import { addToSegment } from './write-segment.ts';
import type { Writer } from './writer.ts';

const SLICE = 2_000;

/** Returns the number of moved rows. */
export async function adoptRows(writer: Writer): Promise<number> {
  const events = await writer.all<TraceEventRow>(`select * from trace_events limit ${SLICE}`);
  const steps = await writer.all<TraceStepRow & { place: number }>(`select rowid as place, * from trace_steps limit ${SLICE}`);
  if (events.length + steps.length === 0) return 0;
  return await writer.transaction(async (tx) => {
    await addToSegment(tx, events, steps, steps.length > 0 ? ANY_TIME : undefined);
    const ids = JSON.stringify(events.map(({ pipeline_id, event_id }) => [pipeline_id, event_id]));
    await tx.run('delete from trace_events where (pipeline_id, event_id) in (select value->>0, value->>1 from json_each(?))', [ids]);
    await tx.run('delete from trace_steps where rowid in (select value from json_each(?))', [
      JSON.stringify(steps.map(({ place }) => place)),
    ]);
    return events.length + steps.length;
  });
}
