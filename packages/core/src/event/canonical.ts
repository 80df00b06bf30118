import type { JsonObject } from '../json.ts';

export type EventType = 'track' | 'page' | 'identify' | 'group';
/** Accepted as `page` and `identify`. */
export type OriginalType = 'screen' | 'alias';
export const EVENT_TYPES: readonly EventType[] = ['track', 'page', 'identify', 'group'];

/** The event every step after ingest works on, and what the webhook vendor delivers as it is. Absent values are left out. */
export interface CanonicalEvent {
  event_id: string;
  type: EventType;
  /** What the client called, where it was accepted as another type. */
  original_type?: OriginalType;
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
  /** Which integrations may get it, by vendor key, vendor name or integration id; `All` for the rest. Never sent to a vendor. */
  integrations?: Record<string, boolean>;
}

/** The key of an event in mappings, filters and plans: a track event's own name, else `@page`, `@identify`, `@group`. */
export function eventKey(event: Pick<CanonicalEvent, 'type' | 'event'>): string {
  return event.type === 'track' ? (event.event ?? '') : `@${event.type}`;
}

type Keyed = Pick<CanonicalEvent, 'type' | 'event' | 'original_type'>;

/** What is configured for an event: `@screen` and `@alias` first, then `@page` and `@identify`. */
export function findByEventKey<T>(configured: ReadonlyMap<string, T>, event: Keyed): T | undefined {
  const specific = event.original_type === undefined ? undefined : configured.get(`@${event.original_type}`);
  return specific ?? configured.get(eventKey(event));
}
/** Whether a list of event names names this event. `@page` also stands for screens, `@identify` for aliases. */
export function isNamedIn(names: ReadonlySet<string>, event: Keyed): boolean {
  return names.has(eventKey(event)) || (event.original_type !== undefined && names.has(`@${event.original_type}`));
}
