/**
 * The records of `events.<pipeline_id>` and `replay.<integration_id>`: a line of metadata for delivery, a newline, the canonical event
 * as JSON. Processing writes them; delivery, replay, traces and diff read them.
 *
 * Record id: `<pipeline_id>:<event_id>`, for a replay `<pipeline_id>:<event_id>#<replay id>`. The deduplication window drops a repeat
 * and lets a replay pass.
 */
import type { CanonicalEvent, EventHead } from '@firsthand/core/event/canonical.ts';
import { parseInSteps } from '@firsthand/core/parse-in-steps.ts';
import { shallowFields } from '@firsthand/core/shallow-json.ts';
import type { Steps } from '@firsthand/core/steps.ts';
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
  untraced?: true | undefined;
  /** A replay through another revision than the pinned one. */
  revision_number?: number;
  /** The event failed in processing, and a replay of its dead letter succeeded: it was counted as received and given up then. */
  replay?: true | undefined;
}
/** The part of the metadata that the records of a pipeline mostly have in common. */
export type SharedMeta = Omit<EventRecordMeta, 'received_at' | 'event_id'>;
/** `event` is shared by every integration that reads the record: never write to it. */
export interface DecodedEventRecord extends StoredEvent {
  /** May be a new object at each read. */
  readonly meta: EventRecordMeta;
  /** Cheaper than `meta`. */
  readonly shared: SharedMeta;
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

/** Whether a record of `replay.<integration_id>` is of a dead letter, and not of history. */
export function replaysDeadLetter(recordId: string): boolean {
  return recordId.startsWith('dlq_', recordId.lastIndexOf('#') + 1);
}

/** Of an event, not of a replay: the id of an event may hold any character. */
export function readEventRecordId(recordId: string): { pipeline_id: string; event_id: string } {
  const colon = recordId.indexOf(':');
  return { pipeline_id: recordId.slice(0, colon), event_id: recordId.slice(colon + 1) };
}

/**
 * Whether a record holds this event, or a replay of it. Ask it of every record found by a stored position: after a restore the position may
 * hold another event, of another organisation even.
 */
export function isRecordOf(recordId: string, pipelineId: string, eventId: string): boolean {
  return isOrReplays(recordId, eventRecordId(pipelineId, eventId));
}
/** The same, by the id of the event's record. */
export function isOrReplays(recordId: string, ofEvent: string): boolean {
  return recordId === ofEvent || recordId.startsWith(`${ofEvent}#`);
}

export function encodeEventRecord(meta: EventRecordMeta, event: CanonicalEvent): Uint8Array {
  // Copying every event only to leave out a field that few have would cost a tenth of this function.
  const stored = event.integrations === undefined ? event : withoutIntegrations(event);
  const { received_at, org_id, pipeline_id, untraced, revision_number, replay } = meta;
  const { event_id, integrations } = event;
  const head = { received_at, org_id, pipeline_id, untraced, revision_number, replay, event_id, integrations };
  return join(JSON.stringify(head), JSON.stringify(stored));
}
/** Both lines in bytes, without a third text of both. */
function join(head: string, body: string): Buffer {
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(head) + 1 + Buffer.byteLength(body));
  const end = bytes.write(head);
  bytes[end] = NEWLINE;
  bytes.write(body, end + 1);
  return bytes;
}
function withoutIntegrations({ integrations: _integrations, ...stored }: CanonicalEvent): CanonicalEvent {
  return stored;
}

/** Throws on anything but bytes of `encodeEventRecord`. */
export function decodeEventRecord(data: Uint8Array): DecodedEventRecord {
  const bytes = bufferOf(data);
  const { meta, json } = openUsual(bytes) ?? linesOf(bytes);
  return read(meta, json);
}
function linesOf(bytes: Buffer): { meta: EventRecordMeta; json: Buffer } {
  const { meta, start } = split(bytes);
  return { meta, json: bytes.subarray(start) };
}

/** Like `decodeEventRecord`, in steps: for a record of up to 1 MB. */
export function* decodeEventRecordInSteps(data: Uint8Array): Steps<DecodedEventRecord> {
  const bytes = bufferOf(data);
  const { meta, json } = openUsual(bytes) ?? linesOf(bytes);
  return parsedRecord(meta, json, (yield* parseInSteps(json.toString('utf8'))) as CanonicalEvent);
}

/** Like `decodeEventRecord`, but parses the event when it is read. An event that does not parse is returned as raw text. */
export function openEventRecord(data: Uint8Array): DecodedEventRecord {
  const bytes = bufferOf(data);
  const usual = openUsual(bytes);
  if (usual) return usual;
  const { meta, start } = split(bytes);
  const { event_id } = meta;
  if (event_id === undefined || bytes[start] !== OPEN || bytes.at(-1) !== CLOSE) return read(meta, bytes.subarray(start));
  return new OpenEventRecord(bytes, start, meta, meta.received_at, event_id);
}

/**
 * The event that was parsed last. The steps of one event follow each other, so it is parsed about once per visit. Keeping every parsed
 * event of a backlog would take several times the memory of its bytes.
 */
let lastParsed: { record: OpenEventRecord; event: CanonicalEvent } | undefined;

/** A backlog is held as these, so each of them keeps as little as possible beside its bytes. */
class OpenEventRecord implements DecodedEventRecord {
  readonly shared: SharedMeta;
  readonly received_at: number;
  readonly #bytes: Buffer;
  readonly #start: number;
  /** Or where it begins in the bytes: it ends before `"}` and the newline. */
  readonly #eventId: string | number;

  constructor(bytes: Buffer, start: number, shared: SharedMeta, received_at: number, eventId: string | number) {
    this.#bytes = bytes;
    this.#start = start;
    this.shared = shared;
    this.received_at = received_at;
    this.#eventId = eventId;
  }
  get event_id(): string {
    return typeof this.#eventId === 'string' ? this.#eventId : this.#bytes.toString('utf8', this.#eventId, this.#start - META_END.length);
  }
  get meta(): EventRecordMeta {
    const { received_at, event_id } = this;
    return { ...this.shared, received_at, event_id };
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

/** False where the event only shows the text of a record that does not parse. */
export function isReadable({ context }: CanonicalEvent): boolean {
  return context?.unreadable === undefined;
}

function bufferOf(data: Uint8Array): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

/** `start`: where the event begins. */
function split(bytes: Buffer): { meta: EventRecordMeta; start: number } {
  const end = bytes.indexOf(NEWLINE);
  if (end < 0) throw new SyntaxError('the event record has no meta line');
  const meta = JSON.parse(bytes.toString('utf8', 0, end)) as EventRecordMeta;
  const { received_at: _time, event_id, ...shared } = meta;
  if (event_id !== undefined && shared.integrations === undefined) {
    const { org_id, pipeline_id, untraced, revision_number, replay } = shared;
    const head = JSON.stringify({ org_id, pipeline_id, untraced, revision_number, replay, event_id: '' });
    last = { between: Buffer.from(`,${head.slice(1, -2)}`), shared };
  }
  return { meta, start: end + 1 };
}

const META_START = Buffer.from('{"received_at":');
/** Digits of a time from 2001 to 2286. */
const TIME_DIGITS = 13;
const AFTER_TIME = META_START.length + TIME_DIGITS;
const META_END = Buffer.from('"}\n');
const ZERO = 48;
const NINE = 57;
const QUOTE = 34;
const BACKSLASH = 92;
/** What stood between the time and the event id of the last record that was parsed. */
let last: { between: Buffer; shared: SharedMeta } = { between: Buffer.alloc(0), shared: { org_id: '', pipeline_id: '' } };

/**
 * Events that follow each other mostly belong to the same pipeline: then the metadata is not parsed. Only the time is read; the event id
 * stays in the bytes until somebody asks for it. Undefined for a record of another form.
 */
function openUsual(bytes: Buffer): OpenEventRecord | undefined {
  const { between, shared } = last;
  if (between.length === 0 || !hasAt(bytes, 0, META_START) || !hasAt(bytes, AFTER_TIME, between)) return undefined;
  let time = 0;
  for (let at = META_START.length; at < AFTER_TIME; at++) {
    const byte = bytes[at]!;
    if (byte < ZERO || byte > NINE) return undefined;
    time = time * 10 + (byte - ZERO);
  }
  const idStart = AFTER_TIME + between.length;
  let end = idStart;
  // A text that JSON had to escape is left to the parser.
  for (let byte = bytes[end]; byte !== QUOTE; byte = bytes[++end]) if (byte === undefined || byte === BACKSLASH) return undefined;
  const start = end + META_END.length;
  if (!hasAt(bytes, end, META_END) || bytes[start] !== OPEN || bytes[bytes.length - 1] !== CLOSE) return undefined;
  return new OpenEventRecord(bytes, start, shared, time, idStart);
}
function hasAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

function read(meta: EventRecordMeta, json: Buffer): DecodedEventRecord {
  return parsedRecord(meta, json, parse(json));
}
function parsedRecord(meta: EventRecordMeta, json: Buffer, event: CanonicalEvent): DecodedEventRecord {
  return {
    meta,
    shared: meta,
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
