/** Where the events or dead letters are listed that made an alert fire: those of its window, up to the moment at which it began to fire. */
import type { AlertKind } from '@firsthand/core/config/alert.ts';
import { fixedRange } from '../../time-range.ts';
import { countedSearch, type DeadLettersSearch } from '../dead-letters/search.ts';
import type { EventsSearch } from '../events/search.ts';

const MINUTE = 60_000;

export interface Fired {
  kind: AlertKind;
  pipeline_id: string | null;
  integration_id: string | null;
  window_minutes: number;
  since: string;
}
type Place = { to: '/events'; search: EventsSearch } | { to: '/dead-letters'; search: DeadLettersSearch };

export function countedBy({ kind, pipeline_id, integration_id, window_minutes, since }: Fired): Place {
  const owner = {
    ...(pipeline_id === null ? {} : { pipeline: pipeline_id }),
    ...(integration_id === null ? {} : { integration: integration_id }),
  };
  const end = Date.parse(since);
  // Counters are per minute: the one in which the window begins counts whole.
  const range = fixedRange((Math.floor(end / MINUTE) - window_minutes) * MINUTE, end);
  switch (kind) {
    case 'failing':
      return { to: '/events', search: { ...owner, delivery: 'failed', range } };
    case 'silent':
      return { to: '/events', search: { ...owner, range } };
    case 'backlog':
      return { to: '/events', search: { ...owner, delivery: 'waiting' } };
    case 'dead_letters':
      return { to: '/dead-letters', search: countedSearch(owner, range) };
    case 'plan_violations':
      return { to: '/events', search: { ...owner, plan: 'violated', range } };
    case 'rejected':
      return { to: '/events', search: { ...owner, status: 'rejected', range } };
  }
}

/** `12 delivery attempts` of `12 delivery attempts failed in …`, which leads to what it counts. */
export function countOf(message: string): { count: string; rest: string } {
  const count = /^(?:(?:Only )?\d+ (?:delivery attempts?|events?)|No event)/.exec(message)?.[0] ?? '';
  return { count, rest: message.slice(count.length) };
}
