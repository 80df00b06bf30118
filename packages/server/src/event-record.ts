/**
 * The records of `events.<pipeline_id>` and `replay.<integration_id>`: a line of metadata for delivery, a newline, the canonical event
 * as JSON. Processing writes them; delivery, replay, traces and diff read them.
 *
 * Record id: `<pipeline_id>:<event_id>`, for a replay `<pipeline_id>:<event_id>#<replay id>`. The deduplication window drops a repeat
 * and lets a replay pass.
 */
import type { CanonicalEvent, EventHead } from '@firsthand/core/event/canonical.ts';
import { shallowFields } from '@firsthand/core/shallow-json.ts';
import type { StoredEvent } from '@firsthand/core/vendor/compiled.ts';
import { readEventHead, readTimestamp } from './event-head.ts';

export interface EventRecordMeta {
  /** Time of acceptance, milliseconds since 1970. */
  received_at: number;
  org_id: string;
  pipeline_id: string;
  /** The event's own. Absent in records of earlier versions. */
  event_id?: string;
  /** The event's `integrations`: kept here, so that no vendor gets it and a record need not be parsed to obey it. */
  integrations?: Record<string, boolean>;
  /** Its trace is left out: only errors and drops are recorded. */
  untraced?: true;
  /** A replay through another revision than the pinned one. */
  revision_number?: number;
}
/** `event` is shared by every integration that reads the record: never write to it. */
export interface DecodedEventRecord extends StoredEvent {
  meta: EventRecordMeta;
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
  // Copying every event only to leave out a field that few have would cost a tenth of this function.
  const stored = event.integrations === undefined ? event : withoutIntegrations(event);
  const { received_at, org_id, pipeline_id, untraced, revision_number } = meta;
  const head = { received_at, org_id, pipeline_id, untraced, revision_number, event_id: event.event_id, integrations: event.integrations };
  return Buffer.from(`${JSON.stringify(head)}\n${JSON.stringify(stored)}`, 'utf8');
}
function withoutIntegrations({ integrations: _integrations, ...stored }: CanonicalEvent): CanonicalEvent {
  return stored;
}

/** Throws on anything but bytes of `encodeEventRecord`. */
export function decodeEventRecord(data: Uint8Array): DecodedEventRecord {
  const { bytes, meta, start } = split(data);
  return read(meta, bytes.subarray(start));
}

/** Like `decodeEventRecord`, but parses the event when it is read. An event that does not parse is returned as raw text. */
export function openEventRecord(data: Uint8Array): DecodedEventRecord {
  const { bytes, meta, start } = split(data);
  const { event_id } = meta;
  if (event_id === undefined || bytes[start] !== OPEN || bytes.at(-1) !== CLOSE) return read(meta, bytes.subarray(start));
  return new OpenEventRecord(meta, event_id, bytes, start);
}

/**
 * The event that was parsed last. The steps of one event follow each other, so it is parsed about once per visit. Keeping every parsed
 * event of a backlog would take several times the memory of its bytes.
 */
let lastParsed: { record: OpenEventRecord; event: CanonicalEvent } | undefined;

class OpenEventRecord implements DecodedEventRecord {
  readonly meta: EventRecordMeta;
  readonly event_id: string;
  readonly #bytes: Buffer;
  readonly #start: number;

  constructor(meta: EventRecordMeta, event_id: string, bytes: Buffer, start: number) {
    this.meta = meta;
    this.event_id = event_id;
    this.#bytes = bytes;
    this.#start = start;
  }
  get json(): Buffer {
    return this.#bytes.subarray(this.#start);
  }
  get size(): number {
    return this.#bytes.length - this.#start;
  }
  get head(): EventHead {
    return readEventHead(this.#bytes, this.#start) ?? this.event;
  }
  get timestamp(): string {
    return readTimestamp(this.#bytes, this.#start) ?? this.event.timestamp;
  }
  get received_at(): number {
    return this.meta.received_at;
  }
  shallow(): ReturnType<typeof shallowFields> {
    return shallowFields(this.#bytes.toString('utf8', this.#start));
  }
  get event(): CanonicalEvent {
    if (lastParsed?.record !== this) lastParsed = { record: this, event: this.#parsed() };
    return lastParsed.event;
  }
  #parsed(): CanonicalEvent {
    try {
      return parse(this.json);
    } catch {
      return unreadableEvent(this.event_id, this.received_at, this.json);
    }
  }
}

const KEPT_BYTES = 65_536;

/** Wraps text that does not parse as an event, so that its dead letter can show it. */
export function unreadableEvent(event_id: string, time: number, data: Uint8Array): CanonicalEvent {
  const unreadable = Buffer.from(data.subarray(0, KEPT_BYTES)).toString('utf8');
  return { event_id, type: 'track', timestamp: new Date(Number.isFinite(time) ? time : 0).toISOString(), context: { unreadable } };
}

/** `start`: where the event begins. */
function split(data: Uint8Array): { bytes: Buffer; meta: EventRecordMeta; start: number } {
  const bytes = Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) throw new SyntaxError('the event record has no meta line');
  return { bytes, meta: metaOf(bytes.toString('utf8', 0, end)), start: end + 1 };
}

const META_START = '{"received_at":';
/** Digits of a time from 2001 to 2286. */
const TIME_DIGITS = 13;
const AFTER_TIME = META_START.length + TIME_DIGITS;
/** What stood between the time and the event id of the last record. */
let last = { between: '', org_id: '', pipeline_id: '' };

/**
 * Events that follow each other mostly belong to the same pipeline: then only time and id are read. Held events share the pipeline's texts,
 * of which a backlog would keep thousands of copies.
 */
function metaOf(line: string): EventRecordMeta {
  const { between, org_id, pipeline_id } = last;
  if (between !== '' && line.startsWith(between, AFTER_TIME) && line.startsWith(META_START) && line.endsWith('"}')) {
    const received_at = Number(line.slice(META_START.length, AFTER_TIME));
    const event_id = line.slice(AFTER_TIME + between.length, -2);
    if (Number.isSafeInteger(received_at) && !/["\\]/.test(event_id)) return { received_at, org_id, pipeline_id, event_id };
  }
  const meta = JSON.parse(line) as EventRecordMeta;
  const head = JSON.stringify({ org_id: meta.org_id, pipeline_id: meta.pipeline_id, event_id: '' });
  last = { between: `,${head.slice(1, -2)}`, org_id: meta.org_id, pipeline_id: meta.pipeline_id };
  return meta;
}
function read(meta: EventRecordMeta, json: Buffer): DecodedEventRecord {
  const event = parse(json);
  return {
    meta,
    event_id: event.event_id,
    event,
    head: event,
    timestamp: event.timestamp,
    json,
    size: json.length,
    received_at: meta.received_at,
  };
}
function parse(json: Buffer): CanonicalEvent {
  return JSON.parse(json.toString('utf8')) as CanonicalEvent;
}
