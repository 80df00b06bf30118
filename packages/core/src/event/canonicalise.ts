import { isoTime } from '../iso-time.ts';
import { isObject, type Json, type JsonObject, own } from '../json.ts';
import { parseInSteps } from '../parse-in-steps.ts';
import type { Steps } from '../steps.ts';
import type { CanonicalEvent, EventType, OriginalType } from './canonical.ts';
import type { IngestEnvelope } from './envelope.ts';
import { readIntegrations } from './integrations.ts';
import { LATEST_TIME, parseTimestamp } from './timestamp.ts';

/** `screen` and `alias` calls of Segment's clients are page and identify events with an `original_type`. */
const TYPES: ReadonlyMap<string, EventType> = new Map([
  ['track', 'track'],
  ['page', 'page'],
  ['screen', 'page'],
  ['identify', 'identify'],
  ['alias', 'identify'],
  ['group', 'group'],
]);
/** `sentAt` corrects client clocks that are off by more than this. */
const CLOCK_TOLERANCE_MS = 60_000;
const decoder = new TextDecoder();

/** Builds the canonical event from what ingest stored. `body` has passed `validateEvent`, so this never rejects. */
export function canonicalise(envelope: IngestEnvelope, body: Uint8Array): CanonicalEvent {
  return canonicaliseParsed(envelope, JSON.parse(decoder.decode(body)) as JsonObject);
}
/** Like `canonicalise`, in steps: for an event of up to 1 MB. */
export function* canonicaliseInSteps(envelope: IngestEnvelope, body: Uint8Array): Steps<CanonicalEvent> {
  return canonicaliseParsed(envelope, (yield* parseInSteps(decoder.decode(body))) as JsonObject);
}

export function canonicaliseParsed(envelope: IngestEnvelope, body: JsonObject): CanonicalEvent {
  const call = text(own(body, 'type')) ?? envelope.type ?? 'track';
  const type = eventType(call);
  const event: CanonicalEvent = { event_id: envelope.event_id, type, timestamp: '', context: {} };
  const original = originalType(call);
  if (original !== undefined) event.original_type = original;
  const name = text(own(body, 'name'));
  const groupId = idText(own(body, 'groupId'));
  const userId = idText(own(body, 'userId'));
  if (type === 'track') event.event = text(own(body, 'event')) ?? '';
  if (type === 'page' && name !== undefined) event.name = name;
  if (type === 'group' && groupId !== undefined) event.group_id = groupId;
  if (envelope.anonymous_id !== undefined) event.anonymous_id = envelope.anonymous_id;
  if (userId !== undefined) event.user_id = userId;
  event.timestamp = isoTime(timeOf(envelope, body));
  event.context = contextOf(envelope, body);

  const properties = objectOf(own(body, 'properties'));
  const category = text(own(body, 'category'));
  // Segment's page calls have a category beside the name. The canonical event can only keep it in the properties.
  if (type === 'page' && category !== undefined && !(properties && Object.hasOwn(properties, 'category')))
    event.properties = { ...properties, category };
  else if (properties) event.properties = properties;

  const traits = objectOf(own(body, 'traits'));
  if (traits) event.traits = traits;
  else {
    // Moved, not copied: a privacy rule on `traits.email` must not leave a second copy behind in the context.
    const inContext = objectOf(own(event.context, 'traits'));
    if (inContext) {
      event.traits = inContext;
      delete event.context.traits;
    }
  }
  const integrations = readIntegrations(own(body, 'integrations'), envelope.integrations);
  if (integrations) event.integrations = integrations;
  if (call === 'alias') {
    const previous = idText(own(body, 'previousId'));
    if (previous !== undefined && previous !== event.anonymous_id) event.context.previous_id = previous;
  }
  return event;
}

export function eventType(call: string): EventType {
  return TYPES.get(call) ?? 'track';
}
export function isEventCall(call: unknown): call is string {
  return typeof call === 'string' && TYPES.has(call);
}
export function originalType(call: string): OriginalType | undefined {
  return call === 'screen' || call === 'alias' ? call : undefined;
}

/** Uses `timestamp`, then `originalTimestamp` (RudderStack's SDKs send only that), then the time of receipt. */
function timeOf(envelope: IngestEnvelope, body: JsonObject): number {
  const given = instant(own(body, 'timestamp')) ?? instant(own(body, 'originalTimestamp'));
  if (given === undefined) return envelope.received_at;
  const sent = instant(text(own(body, 'sentAt')) ?? envelope.sent_at);
  if (sent === undefined) return given;
  const off = envelope.received_at - sent;
  return Math.abs(off) > CLOCK_TOLERANCE_MS ? Math.min(Math.max(0, given + off), LATEST_TIME) : given;
}

function instant(value: unknown): number | undefined {
  return typeof value === 'string' ? parseTimestamp(value) : undefined;
}

function contextOf(envelope: IngestEnvelope, body: JsonObject): JsonObject {
  const context: JsonObject = {};
  if (envelope.context) copyInto(context, envelope.context as JsonObject);
  const given = objectOf(own(body, 'context'));
  if (given) copyInto(context, given);
  if (envelope.vendor_ids) context.vendor_ids = { ...envelope.vendor_ids, ...objectOf(own(context, 'vendor_ids')) };
  return context;
}

function copyInto(context: JsonObject, from: JsonObject): void {
  for (const key of Object.keys(from)) {
    if (key === 'challenge_token') continue;
    const value = from[key] as Json;
    if (key === 'userAgent') context.user_agent = value;
    else if (key === '__proto__') Object.defineProperty(context, key, { value, enumerable: true, configurable: true, writable: true });
    else context[key] = value;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
/** Compatible clients may send ids as numbers. */
export function idText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : text(value);
}
function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? (value as JsonObject) : undefined;
}
