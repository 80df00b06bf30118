/**
 * The records of `events.<pipeline_id>` and `replay.<integration_id>`: a line of metadata for delivery, a newline, the canonical event
 * as JSON. Processing writes them; delivery, replay, traces and diff read them.
 *
 * Record id: `<pipeline_id>:<event_id>`, for a replay `<pipeline_id>:<event_id>#<replay id>`. The deduplication window drops a repeat
 * and lets a replay pass.
 */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';

export interface EventRecordMeta {
  /** Time of acceptance, milliseconds since 1970. */
  received_at: number;
  org_id: string;
  pipeline_id: string;
  /** The event's own. Absent in records of earlier versions. */
  event_id?: string;
  /** The event's `integrations`: kept here, so that no vendor gets it and a record need not be parsed to obey it. */
  integrations?: Record<string, boolean>;
  /** A replay through another revision than the pinned one. */
  revision_number?: number;
}
export interface DecodedEventRecord {
  meta: EventRecordMeta;
  event_id: string;
  /** Shared by every integration that reads the record: never write to it. */
  readonly event: CanonicalEvent;
}

const NEWLINE = 10;
const OPEN = 123;
const CLOSE = 125;

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
  const { integrations, ...stored } = event;
  return Buffer.from(`${JSON.stringify({ ...meta, event_id: event.event_id, integrations })}\n${JSON.stringify(stored)}`, 'utf8');
}

/** Throws on anything but bytes of `encodeEventRecord`. */
export function decodeEventRecord(data: Uint8Array): DecodedEventRecord {
  const { meta, json } = split(data);
  return read(meta, json);
}

/** Like `decodeEventRecord`, but parses the event on first access. An event that does not parse is returned as raw text. */
export function openEventRecord(data: Uint8Array): DecodedEventRecord {
  const { meta, json } = split(data);
  const { event_id } = meta;
  return event_id === undefined || json[0] !== OPEN || json.at(-1) !== CLOSE ? read(meta, json) : new OpenEventRecord(meta, event_id, json);
}

/** The event as it is stored. */
export function eventJson(data: Uint8Array): Uint8Array {
  return data.subarray(data.indexOf(NEWLINE) + 1);
}

class OpenEventRecord implements DecodedEventRecord {
  readonly meta: EventRecordMeta;
  readonly event_id: string;
  readonly #json: Buffer;
  #event: CanonicalEvent | undefined;

  constructor(meta: EventRecordMeta, event_id: string, json: Buffer) {
    this.meta = meta;
    this.event_id = event_id;
    this.#json = json;
  }
  get event(): CanonicalEvent {
    this.#event ??= this.#parsed();
    return this.#event;
  }
  #parsed(): CanonicalEvent {
    try {
      return parse(this.#json);
    } catch {
      return unreadableEvent(this.event_id, this.meta.received_at, this.#json);
    }
  }
}

const KEPT_BYTES = 65_536;

/** Wraps text that does not parse as an event, so that its dead letter can show it. */
export function unreadableEvent(event_id: string, time: number, data: Uint8Array): CanonicalEvent {
  const unreadable = Buffer.from(data.subarray(0, KEPT_BYTES)).toString('utf8');
  return { event_id, type: 'track', timestamp: new Date(Number.isFinite(time) ? time : 0).toISOString(), context: { unreadable } };
}

function split(data: Uint8Array): { meta: EventRecordMeta; json: Buffer } {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) throw new SyntaxError('the event record has no meta line');
  return { meta: JSON.parse(bytes.toString('utf8', 0, end)) as EventRecordMeta, json: bytes.subarray(end + 1) };
}
function read(meta: EventRecordMeta, json: Buffer): DecodedEventRecord {
  const event = parse(json);
  return { meta, event_id: event.event_id, event };
}
function parse(json: Buffer): CanonicalEvent {
  return JSON.parse(json.toString('utf8')) as CanonicalEvent;
}
