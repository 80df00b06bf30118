/** The interface between the pure steps and the sandbox, and validation of what user code returns. */
import { type CanonicalEvent, EVENT_TYPES } from '../event/canonical.ts';
import { parseTimestamp } from '../event/timestamp.ts';
import { isoTime } from '../iso-time.ts';
import { deeperThan, isObject, type JsonObject, MAX_DEPTH } from '../json.ts';

export interface CompiledCode {
  /** Identity of the code: `trf_…` or the organisation id. Limits, suspension and isolation are per owner. */
  owner: string;
  code: string;
}
export interface CodeCall {
  code: CompiledCode;
  /** Pays for the time that the code takes. */
  org_id: string;
  pipeline_id: string;
  event: CanonicalEvent;
  parameters: Record<string, string>;
}
export type CodeResult =
  | { kind: 'returned'; value: unknown; logs: string[] }
  /** The code threw, ran out of time or memory, or is suspended. The reason says which. */
  | { kind: 'failed'; reason: string; logs: string[] };
/** Never rejects. */
export type RunCode = (call: CodeCall) => Promise<CodeResult>;

export type Accepted = { kind: 'event'; event: CanonicalEvent } | { kind: 'dropped' } | { kind: 'failed'; reason: string };

/**
 * Turns the return value of user code into an event. `null` (or nothing) drops the event; anything that is not an event fails. The
 * event id and `integrations` cannot be changed, nor `original_type` while the type stays.
 */
export function acceptReturned(value: unknown, before: CanonicalEvent): Accepted {
  if (value === null || value === undefined || value === false) return { kind: 'dropped' };
  if (!isObject(value)) return failed(`the code returned ${Array.isArray(value) ? 'a list' : `a ${typeof value}`} instead of an event`);
  const type = EVENT_TYPES.find((known) => known === value.type);
  if (type === undefined) return failed('the code returned an event without a known type');
  const event: CanonicalEvent = { event_id: before.event_id, type, timestamp: before.timestamp, context: {} };
  if (before.original_type !== undefined && type === before.type) event.original_type = before.original_type;
  if (before.integrations !== undefined) event.integrations = before.integrations;
  for (const key of ['event', 'name', 'group_id', 'anonymous_id', 'user_id'] as const) {
    const text = value[key];
    if (text === undefined || text === null || text === '') continue;
    if (typeof text !== 'string' && typeof text !== 'number') return failed(`the code returned a ${key} that is no text`);
    event[key] = String(text);
  }
  if (type === 'track' && event.event === undefined) return failed('the code returned a track event without a name');
  if (value.timestamp !== undefined) {
    const ms = typeof value.timestamp === 'string' ? parseTimestamp(value.timestamp) : undefined;
    if (ms === undefined) return failed('the code returned a timestamp that is no ISO 8601 time');
    event.timestamp = isoTime(ms);
  }
  for (const key of ['context', 'properties', 'traits'] as const) {
    const part = value[key];
    if (part === undefined || part === null) continue;
    if (!isObject(part)) return failed(`the code returned an event whose ${key} is no object`);
    if (deeperThan(part, MAX_DEPTH)) return failed(`the code returned ${key} nested deeper than ${MAX_DEPTH} levels`);
    event[key] = part as JsonObject;
  }
  return { kind: 'event', event };
}

function failed(reason: string): Accepted {
  return { kind: 'failed', reason };
}
