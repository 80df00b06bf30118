/** Finds retained canonical events in the log: by position if the trace has it, otherwise by processing time. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { decodeEventRecord, eventRecordId, eventsTopic, isRecordOf, openEventRecord } from '../event-record.ts';
import { inBulkTurn } from '../runtime/turns.ts';
import { type EventLog, LogUnavailable } from '../stores/event-log/port.ts';
import type { TraceEventRow } from '../stores/observe/rows.ts';

/** Maximum difference between the log's time and the outcome's, in both directions. */
export const SLACK_MS = 5_000;
const MOST_SCANNED = 50_000;
/** Reads of a list on their way together: on JetStream each is a request. */
const AT_ONCE = 10;

export async function findCanonical(log: EventLog, trace: TraceEventRow): Promise<CanonicalEvent | undefined> {
  const data = await findStored(log, trace);
  return data && (await decodeInTurn(data));
}

/** Undefined while the log cannot be read: traces are in the database, and are shown without it. */
export async function whileAvailable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof LogUnavailable) return undefined;
    throw error;
  }
}

/**
 * The events of a list in its order as JSON, up to this many bytes in all; at least one entry. Undefined: not retained, or the log cannot be
 * read now. They are not parsed: a record has the text that `JSON.stringify` wrote.
 */
export async function findCanonicalJson(
  log: EventLog,
  traces: readonly TraceEventRow[],
  mostBytes: number,
): Promise<(Uint8Array | undefined)[]> {
  const events: (Uint8Array | undefined)[] = [];
  let bytes = 0;
  for (let at = 0; at < traces.length; at += AT_ONCE) {
    const found = await whileAvailable(Promise.all(traces.slice(at, at + AT_ONCE).map((trace) => findStored(log, trace))));
    // Each further question would wait for its timeout too.
    if (found === undefined) return traces.map((_, n) => events[n]);
    for (const data of found) {
      bytes += data?.length ?? 0;
      if (bytes > mostBytes && events.length > 0) return events;
      events.push(data && openEventRecord(data).json);
    }
  }
  return events;
}

function decodeInTurn(data: Uint8Array): Promise<CanonicalEvent> {
  return inBulkTurn(data.length, () => decodeEventRecord(data).event);
}

async function findStored(log: EventLog, trace: TraceEventRow): Promise<Uint8Array | undefined> {
  if (trace.result !== 'processed') return undefined;
  const topic = eventsTopic(trace.pipeline_id);
  if (trace.stored_position !== null) {
    const record = await log.get(topic, trace.stored_position);
    return record && isRecordOf(record.id, trace.pipeline_id, trace.event_id) ? record.data : undefined;
  }
  const id = eventRecordId(trace.pipeline_id, trace.event_id);
  const range = { from: new Date(trace.received_at - SLACK_MS), to: new Date(trace.processed_at + SLACK_MS), limit: MOST_SCANNED };
  for await (const record of log.read(topic, range)) if (record.id === id) return record.data;
  return undefined;
}
