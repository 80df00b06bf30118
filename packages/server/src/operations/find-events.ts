/** Finds retained canonical events in the log: by position if the trace has it, otherwise by processing time. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { decodeEventRecord, eventRecordId, eventsTopic, isRecordOf, openEventRecord } from '../event-record.ts';
import { inBulkTurn, turns } from '../runtime/turns.ts';
import { type EventLog, LogUnavailable } from '../stores/event-log/port.ts';
import type { ListedTrace } from '../stores/observe/traces.ts';

/** Maximum difference between the log's time and the outcome's, in both directions. */
export const SLACK_MS = 5_000;
const MOST_SCANNED = 50_000;
/** Reads of a list on their way together: on JetStream each is a request. */
const AT_ONCE = 25;

export async function findCanonical(log: EventLog, trace: ListedTrace): Promise<CanonicalEvent | undefined> {
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
  traces: readonly ListedTrace[],
  mostBytes: number,
): Promise<(Uint8Array | undefined)[]> {
  const events: (Uint8Array | undefined)[] = [];
  let bytes = 0;
  for (let at = 0; at < traces.length; at += AT_ONCE) {
    await turns.bulk();
    const found = await whileAvailable(findAllStored(log, traces.slice(at, at + AT_ONCE)));
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

async function findStored(log: EventLog, trace: ListedTrace): Promise<Uint8Array | undefined> {
  return (await findAllStored(log, [trace]))[0];
}
/** In the order of the traces. */
async function findAllStored(log: EventLog, traces: readonly ListedTrace[]): Promise<(Uint8Array | undefined)[]> {
  const processed = traces.filter(({ result }) => result === 'processed');
  const found = new Map<ListedTrace, Uint8Array | undefined>();
  const reading = Array.from(
    Map.groupBy(processed.filter(hasPosition), ({ pipeline_id }) => pipeline_id),
    async ([pipelineId, rows]) => {
      const positions = rows.map(({ stored_position }) => stored_position);
      const records = await log.getMany(eventsTopic(pipelineId), positions);
      for (const [at, row] of rows.entries()) {
        const record = records[at];
        if (record && isRecordOf(record.id, pipelineId, row.event_id)) found.set(row, record.data);
      }
    },
  );
  await Promise.all(reading);
  for (const row of processed) if (!hasPosition(row)) found.set(row, await searchStored(log, row));
  return traces.map((trace) => found.get(trace));
}
function hasPosition(trace: ListedTrace): trace is ListedTrace & { stored_position: string } {
  return trace.stored_position !== null;
}

/** For a trace without a position. */
async function searchStored(log: EventLog, trace: ListedTrace): Promise<Uint8Array | undefined> {
  const id = eventRecordId(trace.pipeline_id, trace.event_id);
  const range = { from: new Date(trace.received_at - SLACK_MS), to: new Date(trace.processed_at + SLACK_MS), limit: MOST_SCANNED };
  for await (const record of log.read(eventsTopic(trace.pipeline_id), range)) if (record.id === id) return record.data;
  return undefined;
}
