/** A validated event to its record in the ingest log: ids decided, the envelope in front, the client's bytes behind it. */
import { hash, randomUUID } from 'node:crypto';
import { anonymousIdOf } from '@firsthand/core/event/anonymous-id.ts';
import { idText } from '@firsthand/core/event/canonicalise.ts';
import { envelopeField, wrapEnvelope } from '@firsthand/core/event/envelope.ts';
import { isObject, type JsonObject, own } from '@firsthand/core/json.ts';
import type { IngestRules } from '../snapshot/ingest-rules.ts';
import type { LogRecord } from '../stores/event-log/port.ts';

/** What all events of one request share. */
export interface RequestMeta {
  rules: IngestRules;
  receivedAt: number;
  /** The request's envelope fields as text, made by `envelopeFields`. */
  envelope: string;
  /** Came with an Origin, or as a pixel: events without an anonymous id get one. */
  browserRequest: boolean;
  cookieId?: string | undefined;
  gpc?: boolean;
  /** Of a signed request; ids of events without `messageId` are derived from it. */
  digest?: string | undefined;
  /** Of a batch: the context its events share. */
  context?: JsonObject | undefined;
}
/** What only this event has. */
export interface EventMeta {
  body: JsonObject;
  /** The event as the client sent it. */
  bytes: Buffer;
  /** Its place in the request. */
  index: number;
  /** The type that the path implies; used where the body has none. */
  impliedType?: string | undefined;
  vendorIds?: Record<string, string> | undefined;
}
export interface IngestRecord {
  topic: string;
  record: LogRecord;
  eventId: string;
  anonymousId: string | undefined;
}

const NEWLINE = 10;

export function buildRecord(request: RequestMeta, { body, bytes, index, impliedType, vendorIds }: EventMeta): IngestRecord {
  const { rules, digest } = request;
  const eventId =
    text(own(body, 'messageId')) ?? (digest === undefined ? randomUUID() : derivedUuid(rules.pipelineId, `${digest}/${index}`));
  const userId = idText(own(body, 'userId'));
  const anonymousId =
    anonymousIdOf(body, request) ?? (request.browserRequest || userId === undefined ? derivedUuid(rules.pipelineId, eventId) : undefined);
  const type = (own(body, 'type') ?? null) === null ? impliedType : undefined;
  const ids =
    envelopeField('event_id', eventId) +
    envelopeField('type', type) +
    envelopeField('anonymous_id', anonymousId) +
    envelopeField('vendor_ids', vendorIds);
  return {
    topic: rules.partitions.topicOf(rules.orgId, anonymousId ?? userId ?? eventId, request.receivedAt),
    record: {
      id: rules.recordPrefix + eventId,
      data: withEnvelope(wrapEnvelope(rules.envelope + request.envelope + ids), storedBytes(body, bytes)),
    },
    eventId,
    anonymousId,
  };
}

/** The client's bytes, unless they hold a challenge token: it is a credential, and the log and its backups are no place for one. */
function storedBytes(body: JsonObject, bytes: Buffer): Buffer {
  const context = own(body, 'context');
  if (!isObject(context) || !Object.hasOwn(context, 'challenge_token')) return bytes;
  const { challenge_token: _token, ...rest } = context;
  return Buffer.from(JSON.stringify({ ...body, context: rest }));
}

/** `envelope` is ASCII. One allocation of the right size: this runs for every event. */
function withEnvelope(envelope: string, bytes: Buffer): Buffer {
  const data = Buffer.allocUnsafe(envelope.length + 1 + bytes.length);
  data.write(envelope, 0, 'latin1');
  data[envelope.length] = NEWLINE;
  bytes.copy(data, envelope.length + 1);
  return data;
}

/** A UUID that is the same for the same pipeline and text. */
export function derivedUuid(pipelineId: string, from: string): string {
  const hex = hash('sha256', `${pipelineId}\n${from}`, 'hex');
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
