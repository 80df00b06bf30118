/** The log records of a processed event: one for delivery, and the outcome for traces and statistics. */
import { hash } from 'node:crypto';
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import type { Processed } from '@firsthand/core/process/process-event.ts';
import { encodeEventRecord, eventRecordId, eventsTopic } from '../../event-record.ts';
import { outcomeRecord } from '../../outcomes/outcome-log.ts';
import type { Append, LogRecord } from '../../stores/event-log/port.ts';
import type { IngestRecord } from './ingest-record.ts';

export interface Finished {
  record: IngestRecord;
  result: Processed;
  /** The trace is left out (TRACE_SAMPLE). */
  untraced?: boolean;
}

/**
 * Ids derive from the event id, so that a repeat after a crash stores nothing twice. A replay has an id of its own
 * (`<pipeline>:<event>#<replay>`) and keeps it.
 */
export function recordIdOf({ delivery, envelope }: IngestRecord): string {
  const plain = eventRecordId(envelope.pipeline_id, envelope.event_id);
  if (delivery.record.id.startsWith(`${plain}#`)) return delivery.record.id;
  return envelope.replay_of === undefined ? plain : eventRecordId(envelope.pipeline_id, envelope.event_id, envelope.replay_of);
}

/** The record that delivery reads; undefined where the event was dropped or failed. */
export function eventAppendOf({ record, result, untraced }: Finished): Append | undefined {
  if (result.kind !== 'processed') return undefined;
  const { received_at, org_id, pipeline_id } = record.envelope;
  const data = encodeEventRecord({ received_at, org_id, pipeline_id, ...(untraced && { untraced }) }, result.event);
  return { topic: eventsTopic(pipeline_id), records: [{ id: recordIdOf(record), data }] };
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
    const id = recordIdOf(record);
    const outcome = outcomeOf(record, result, id, positions.get(i), now, deadLetterRetentionMs);
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
  id: string,
  stored: string | undefined,
  now: number,
  deadLetterRetentionMs: number,
): Outcome {
  const { envelope, delivery, topic } = record;
  const { event, decisions } = result;
  const { org_id, pipeline_id, received_at } = envelope;
  const raw = { topic, position: delivery.record.position };
  const again = id !== eventRecordId(pipeline_id, envelope.event_id);
  const about = {
    at: now,
    org_id,
    pipeline_id,
    ...namesOf(event),
    ...(again && { again: true as const }),
    ...sourceOf(envelope),
  };
  switch (result.kind) {
    case 'processed':
      return { kind: 'processed', ...about, received_at, decisions, raw, ...(stored !== undefined && { stored }) };
    case 'dropped':
      return { kind: 'dropped', reason: result.reason, ...about, received_at, decisions, raw };
    case 'failed':
      return {
        kind: 'dead_lettered',
        ...about,
        received_at,
        decisions,
        dead_letter: deadLetterOf(record, event, result.reason, id, now, deadLetterRetentionMs),
      };
  }
}

function sourceOf({ source, webhook_source_id }: IngestRecord['envelope']) {
  if (webhook_source_id !== undefined) return { webhook_source_id };
  return source === 'webhook' ? {} : { source };
}

function namesOf(event: CanonicalEvent) {
  return {
    event_id: event.event_id,
    type: event.type,
    ...(event.original_type !== undefined && { original_type: event.original_type }),
    ...(event.event !== undefined && { event: event.event }),
    ...(event.user_id !== undefined && { user_id: event.user_id }),
    ...(event.anonymous_id !== undefined && { anonymous_id: event.anonymous_id }),
  };
}

function deadLetterOf(
  record: IngestRecord,
  event: CanonicalEvent,
  reason: string,
  id: string,
  now: number,
  retentionMs: number,
): DeadLetter {
  const { envelope } = record;
  return {
    id: deadLetterId(envelope.received_at, id),
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
