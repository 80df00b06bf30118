/**
 * What stands in `events.<pipeline_id>` and `replay.<integration_id>`: one line of what delivery must know beside the
 * event, a newline, the canonical event as JSON. Written by processing, read by delivery, replay, traces and diff.
 *
 * Record ids: `<pipeline_id>:<event_id>`, a replay's `<pipeline_id>:<event_id>#<replay id>`, so that the
 * deduplication window swallows a repeat and lets a replay through.
 */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';

export interface EventRecordMeta {
  /** When ingest accepted it, milliseconds since 1970. */
  received_at: number;
  org_id: string;
  pipeline_id: string;
  /** A replay through another revision than the pinned one. */
  revision_number?: number;
}
export interface DecodedEventRecord {
  meta: EventRecordMeta;
  /** Shared by every integration that reads the record: never write to it. */
  event: CanonicalEvent;
}

const NEWLINE = 10;

export function eventsTopic(pipelineId: string): string {
  return `events.${pipelineId}`;
}
export function replayTopic(integrationId: string): string {
  return `replay.${integrationId}`;
}
export function deadLetterTopic(integrationId: string): string {
  return `dlq-delivery-${integrationId}`;
}
export function eventRecordId(pipelineId: string, eventId: string, replayId?: string): string {
  return replayId === undefined ? `${pipelineId}:${eventId}` : `${pipelineId}:${eventId}#${replayId}`;
}

export function encodeEventRecord(meta: EventRecordMeta, event: CanonicalEvent): Uint8Array {
  return Buffer.from(`${JSON.stringify(meta)}\n${JSON.stringify(event)}`, 'utf8');
}

/** Throws on bytes that `encodeEventRecord` did not make. */
export function decodeEventRecord(data: Uint8Array): DecodedEventRecord {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) throw new SyntaxError('the event record has no meta line');
  return {
    meta: JSON.parse(bytes.toString('utf8', 0, end)) as EventRecordMeta,
    event: JSON.parse(bytes.toString('utf8', end + 1)) as CanonicalEvent,
  };
}
