import type { JsonObject } from '../json.ts';

export type EventType = 'track' | 'page' | 'identify' | 'group';
/** `screen` is accepted as `page`, `alias` as `identify`. */
export type OriginalType = 'screen' | 'alias';
export const EVENT_TYPES: readonly EventType[] = ['track', 'page', 'identify', 'group'];

/** The event that every step after ingest works on. The webhook vendor delivers it unchanged. Absent values are omitted. */
export interface CanonicalEvent {
  event_id: string;
  type: EventType;
  /** The call the client made, if it was accepted as another type. */
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
  /**
   * Integrations that may receive the event, by vendor key, vendor name or integration id; `All` covers the rest. Never sent to a
   * vendor.
   */
  integrations?: Record<string, boolean>;
}

/** What names an event: its folder, key and order depend on nothing else. */
export type EventHead = Pick<CanonicalEvent, 'event_id' | 'type' | 'event' | 'anonymous_id' | 'user_id' | 'timestamp'>;

const RESERVED: ReadonlySet<string> = new Set(['@page', '@screen', '@identify', '@alias', '@group']);

/**
 * The key of an event in mappings, filters and plans: the name of a track event, otherwise `@page`, `@identify` or `@group`. A track event
 * with such a name has an empty key, which no configuration has.
 */
export function eventKey(event: Pick<CanonicalEvent, 'type' | 'event'>): string {
  if (event.type !== 'track') return `@${event.type}`;
  const name = event.event ?? '';
  return name.includes('@') && RESERVED.has(name.trim().toLowerCase()) ? '' : name;
}

type Keyed = Pick<CanonicalEvent, 'type' | 'event' | 'original_type'>;

/** Looks up `@screen` and `@alias` first, then `@page` and `@identify`. */
export function findByEventKey<T>(configured: ReadonlyMap<string, T>, event: Keyed): T | undefined {
  const specific = event.original_type === undefined ? undefined : configured.get(`@${event.original_type}`);
  return specific ?? configured.get(eventKey(event));
}
/** `@page` also matches screens, and `@identify` also matches aliases. */
export function isNamedIn(names: ReadonlySet<string>, event: Keyed): boolean {
  return names.has(eventKey(event)) || (event.original_type !== undefined && names.has(`@${event.original_type}`));
}

/** The id by which the service keeps a visitor's events in order. It does not change at a login. */
export function visitorOf({ anonymous_id, user_id, event_id }: EventHead): string {
  return anonymous_id ?? user_id ?? event_id;
}
