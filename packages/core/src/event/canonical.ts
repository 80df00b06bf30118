import type { JsonObject } from '../json.ts';

export type EventType = 'track' | 'page' | 'identify' | 'group';
export const EVENT_TYPES: readonly EventType[] = ['track', 'page', 'identify', 'group'];

/** The event every step after ingest works on, and what the webhook vendor delivers as it is. Absent values are left out. */
export interface CanonicalEvent {
  event_id: string;
  type: EventType;
  /** Track events only. */
  event?: string;
  /** Page events only. */
  name?: string;
  /** Group events only. */
  group_id?: string;
  anonymous_id?: string;
  user_id?: string;
  timestamp: string;
  context: JsonObject;
  properties?: JsonObject;
  traits?: JsonObject;
}

/** The name that event filters and mapping keys match: a track event's own name, else `@page`, `@identify`, `@group`. */
export function eventKey(event: Pick<CanonicalEvent, 'type' | 'event'>): string {
  return event.type === 'track' ? (event.event ?? '') : `@${event.type}`;
}
