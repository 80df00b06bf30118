/** Reads a raw record of ingest, first its envelope and then the event, and decides whose lane it runs in. */

import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { canonicalise, canonicaliseInSteps } from '@firsthand/core/event/canonicalise.ts';
import { decodeEnvelope, type IngestEnvelope } from '@firsthand/core/event/envelope.ts';
import type { Steps } from '@firsthand/core/steps.ts';
import { eventRecordId } from '../../event-record.ts';
import type { Delivery } from '../../stores/event-log/port.ts';

export interface RawRecord {
  delivery: Delivery;
  topic: string;
  bytes: number;
  envelope: IngestEnvelope;
  body: Uint8Array;
}
export interface IngestRecord extends Omit<RawRecord, 'body'> {
  /** Of the records that are stored for it. */
  id: string;
  event: CanonicalEvent;
  /** Why it cannot be processed; it becomes a dead letter. */
  unreadable: string | undefined;
}

/** Undefined where the envelope cannot be read: the organisation is unknown then. */
export function readRawRecord(delivery: Delivery, topic: string): RawRecord | undefined {
  const { data } = delivery.record;
  try {
    const { envelope, body } = decodeEnvelope(data);
    if (typeof envelope.org_id !== 'string' || typeof envelope.pipeline_id !== 'string' || typeof envelope.event_id !== 'string')
      return undefined;
    return { delivery, topic, bytes: data.length, envelope, body };
  } catch {
    return undefined;
  }
}

export function readIngestRecord(raw: RawRecord): IngestRecord {
  try {
    return ingestRecord(raw, canonicalise(raw.envelope, raw.body));
  } catch (error) {
    return unreadableRecord(raw, error);
  }
}
/** Like `readIngestRecord`, in steps: for an event of up to 1 MB. */
export function* readIngestRecordInSteps(raw: RawRecord): Steps<IngestRecord> {
  try {
    return ingestRecord(raw, yield* canonicaliseInSteps(raw.envelope, raw.body));
  } catch (error) {
    return unreadableRecord(raw, error);
  }
}
function ingestRecord({ delivery, topic, bytes, envelope }: RawRecord, event: CanonicalEvent, unreadable?: string): IngestRecord {
  return { delivery, topic, bytes, envelope, id: recordIdOf(delivery, envelope), event, unreadable };
}
function unreadableRecord(raw: RawRecord, error: unknown): IngestRecord {
  return ingestRecord(raw, placeholder(raw.envelope), `the stored event cannot be read: ${(error as Error).message}`);
}

/**
 * Ids derive from the event id, so that a repeat after a crash stores nothing twice. A replay has an id of its own
 * (`<pipeline>:<event>#<replay>`) and keeps it.
 */
function recordIdOf({ record: { id } }: Delivery, { pipeline_id, event_id, replay_of }: IngestEnvelope): string {
  const plain = eventRecordId(pipeline_id, event_id);
  if (id !== plain && id.startsWith(`${plain}#`)) return id;
  return replay_of === undefined ? plain : eventRecordId(pipeline_id, event_id, replay_of);
}

function placeholder(envelope: IngestEnvelope): CanonicalEvent {
  const timestamp = new Date(Number.isFinite(envelope.received_at) ? envelope.received_at : 0).toISOString();
  const { event_id, anonymous_id } = envelope;
  return { event_id, type: 'track', event: '', timestamp, context: {}, ...(anonymous_id !== undefined && { anonymous_id }) };
}

/** Events of one lane keep their order; lanes are independent. */
export function laneKey({ envelope, event }: IngestRecord): string {
  if (envelope.anonymous_id !== undefined) return `${envelope.org_id}\na\n${envelope.anonymous_id}`;
  if (event.user_id !== undefined) return `${envelope.org_id}\nu\n${event.user_id}`;
  return `${envelope.org_id}\ne\n${envelope.pipeline_id}\n${event.event_id}`;
}
