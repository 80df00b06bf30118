/** The log records of a processed event: one for delivery, and the outcome for traces and statistics. */
import { hash } from 'node:crypto';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Processed } from '@firsthand/core/process/process-event.ts';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../event-record.ts';
import { outcomeRecord } from '../../outcomes/outcome-log.ts';
import type { Append, LogRecord } from '../../stores/event-log/port.ts';
import { toldId, toldName } from '../../stores/observe/stored-text.ts';
import type { IngestRecord } from './ingest-record.ts';

export interface Finished {
  record: IngestRecord;
  result: Processed;
  /** The trace is left out (TRACE_SAMPLE). */
  untraced?: boolean;
}

/** The record that delivery reads; undefined where the event was dropped or failed. */
export function eventAppendOf({ record, result, untraced }: Finished): Append | undefined {
  if (result.kind !== 'processed') return undefined;
  const { received_at, org_id, pipeline_id } = record.envelope;
  const meta = { received_at, org_id, pipeline_id, untraced: untraced || undefined, replay: isReplay(record) || undefined };
  const data = encodeEventRecord(meta, result.event);
  return { topic: eventsTopic(pipeline_id), records: [{ id: record.id, data }] };
}

/** Most outcomes in one record: a record per event would cost more than its content, for the writer and the reader. */
const MOST_TOGETHER = 32;

export interface OutcomeSettings {
  /** Positions of the events' records, by index, for those that this call stored. */
  positions: ReadonlyMap<number, string>;
  now: number;
  deadLetterRetentionMs: number;
  /** Many outcomes per record; otherwise there is one record per event, in order. Only on engines with transactions: elsewhere a repeat may group the events differently, under another id. */
  together: boolean;
}

export function outcomeRecordsOf(
  finished: readonly Finished[],
  { positions, now, deadLetterRetentionMs, together }: OutcomeSettings,
): LogRecord[] {
  const records: LogRecord[] = [];
  let group: Outcome[] = [];
  let first = '';
  const end = () => {
    if (group.length > 0) records.push(outcomeRecord(first, group));
    group = [];
  };
  finished.forEach(({ record, result, untraced }, i) => {
    const { id } = record;
    const outcome = outcomeOf(record, result, positions.get(i), now, deadLetterRetentionMs);
    if (untraced && outcome.kind === 'processed') outcome.untraced = true;
    if (!together || result.kind === 'failed') records.push(outcomeRecord(`p:${id}`, [outcome]));
    else {
      if (group.length === 0) first = `p:${id}`;
      group.push(outcome);
      if (group.length === MOST_TOGETHER) end();
    }
  });
  end();
  return records;
}

function outcomeOf(
  record: IngestRecord,
  result: Processed,
  stored: string | undefined,
  now: number,
  deadLetterRetentionMs: number,
): Outcome {
  const { id, envelope, delivery, topic } = record;
  const { event, decisions } = result;
  const { org_id, pipeline_id, received_at, webhook_source_id, source } = envelope;
  const raw = { topic, position: delivery.record.position };
  // User code may make names of any length: what is stored of them is all that is told. JSON leaves out what is undefined. Spreading only what
  // is there would make several objects per event.
  const about = {
    at: now,
    org_id,
    pipeline_id,
    event_id: event.event_id,
    type: event.type,
    original_type: event.original_type,
    event: toldName(event.event),
    user_id: toldId(event.user_id),
    anonymous_id: toldId(event.anonymous_id),
    again: id === eventRecordId(pipeline_id, envelope.event_id) ? undefined : (true as const),
    source: webhook_source_id !== undefined || source === 'webhook' ? undefined : source,
    webhook_source_id,
    received_at,
    decisions,
  };
  const replay = isReplay(record) ? { replay: true } : undefined;
  switch (result.kind) {
    case 'processed':
      return { ...about, kind: 'processed', raw, stored, ...replay };
    case 'dropped':
      return { ...about, kind: 'dropped', reason: result.reason, raw, ...replay };
    case 'failed':
      return {
        ...about,
        kind: 'dead_lettered',
        dead_letter: deadLetterOf(record, event, result.reason, now, deadLetterRetentionMs),
        ...replay,
      };
  }
}

/** Of a dead letter of this stage. Of one of an earlier stage, the record that ingest stored has the event's own id. */
function isReplay({ delivery, envelope: { pipeline_id, event_id } }: IngestRecord): boolean {
  return delivery.record.id !== eventRecordId(pipeline_id, event_id);
}

function deadLetterOf(record: IngestRecord, event: CanonicalEvent, reason: string, now: number, retentionMs: number): DeadLetter {
  const { envelope } = record;
  return {
    id: deadLetterId(envelope.received_at, record.id),
    org_id: envelope.org_id,
    pipeline_id: envelope.pipeline_id,
    integration_id: null,
    webhook_source_id: envelope.webhook_source_id ?? null,
    vendor: null,
    revision_number: null,
    event_id: envelope.event_id,
    stage: 'processing',
    event,
    attempts: [],
    reason,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + retentionMs).toISOString(),
    raw: { topic: record.topic, position: record.delivery.record.position },
  };
}

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Looks and sorts like every other id, but derives from the record's id: processing it again makes no second dead letter. */
function deadLetterId(receivedAt: number, recordId: string): string {
  let time = '';
  for (let rest = receivedAt, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time;
  let tail = '';
  for (const byte of hash('sha256', `processing\n${recordId}`, 'buffer').subarray(0, 16)) tail += ALPHABET[byte & 31];
  return `dlq_${time}${tail}`;
}
