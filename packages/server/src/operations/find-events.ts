/** Finds retained canonical events in the log: by position if the trace has it, otherwise by processing time. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { decodeEventRecord, eventRecordId, eventsTopic } from '../event-record.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import type { TraceEventRow } from '../stores/observe/rows.ts';

/** Maximum difference between the log's time and the outcome's, in both directions. */
const SLACK_MS = 5_000;
const MOST_SCANNED = 50_000;

export async function findCanonical(log: EventLog, trace: TraceEventRow): Promise<CanonicalEvent | undefined> {
  if (trace.result !== 'processed') return undefined;
  const topic = eventsTopic(trace.pipeline_id);
  if (trace.stored_position !== null) {
    const record = await log.get(topic, trace.stored_position);
    return record && decodeEventRecord(record.data).event;
  }
  const id = eventRecordId(trace.pipeline_id, trace.event_id);
  const range = { from: new Date(trace.received_at - SLACK_MS), to: new Date(trace.processed_at + SLACK_MS), limit: MOST_SCANNED };
  for await (const record of log.read(topic, range)) if (record.id === id) return decodeEventRecord(record.data).event;
  return undefined;
}
