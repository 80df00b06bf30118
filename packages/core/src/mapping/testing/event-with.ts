import type { CanonicalEvent } from '../../event/canonical.ts';
import type { JsonObject } from '../../json.ts';

/** An event `A` with these properties and nothing else. */
export function eventWith(properties: JsonObject): CanonicalEvent {
  return { event_id: 'e', type: 'track', event: 'A', timestamp: '2026-01-01T00:00:00.000Z', context: {}, properties } as CanonicalEvent;
}
