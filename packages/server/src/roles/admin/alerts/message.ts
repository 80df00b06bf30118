/** What people read when an alert fires or ends. Pure. */
import type { Alert } from '@firsthand/core/config/alert.ts';
import type { AlertState } from '../../../stores/config/alerts.ts';

export type Occasion = 'firing' | 'resolved' | 'test';
export interface Announcement {
  type: `alert.${Occasion}`;
  alert: Pick<Alert, 'id' | 'name' | 'kind' | 'pipeline_id' | 'integration_id' | 'threshold' | 'window_minutes'>;
  message: string;
  value: number;
  since: string;
  /** The first event of the fault, for a backlog the oldest that waits; null where there is none. */
  event_id: string | null;
  /** Where the console shows it; null without BASE_URL. */
  link: string | null;
}

/** One sentence. */
export function describe({ kind, window_minutes, threshold }: Alert, value: number, reason: string | null): string {
  const window = window_minutes === 1 ? 'the last minute' : `the last ${window_minutes} minutes`;
  const one = value === 1;
  const because = reason === null ? '' : ` (${reason.slice(0, 200)})`;
  switch (kind) {
    case 'failing':
      return `${count(value, 'delivery attempt')} failed in ${window}${because}.`;
    case 'silent':
      return `Only ${count(value, 'event')} arrived in ${window}; at least ${Math.max(1, threshold)} ${threshold > 1 ? 'were' : 'was'} expected.`.replace(
        'Only 0 events',
        'No event',
      );
    case 'backlog':
      return `${count(value, 'event')} ${one ? 'waits' : 'wait'} for delivery.`;
    case 'dead_letters':
      return `${count(value, 'event')} became ${one ? 'a dead letter' : 'dead letters'} in ${window}${because}.`;
    case 'plan_violations':
      return `${count(value, 'event')} violated the tracking plan in ${window}.`;
    case 'rejected':
      return `${count(value, 'event')} ${one ? 'was' : 'were'} rejected in ${window}${because}.`;
  }
}
function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

export function announcementOf(
  occasion: Occasion,
  { id, name, kind, pipeline_id, integration_id, threshold, window_minutes }: Alert,
  state: Pick<AlertState, 'message' | 'value' | 'since' | 'event_id'>,
  baseUrl: string | undefined,
): Announcement {
  const path = state.event_id === null ? '/' : `/events?selected=${encodeURIComponent(state.event_id)}`;
  return {
    type: `alert.${occasion}`,
    alert: { id, name, kind, pipeline_id, integration_id, threshold, window_minutes },
    message: state.message,
    value: state.value,
    since: state.since,
    event_id: state.event_id,
    link: baseUrl === undefined ? null : baseUrl + path,
  };
}

/** For a channel that was told of the alert, and from which it was taken while it fired. */
export function endOf(alert: Alert, state: AlertState, verb: 'changed' | 'deleted' | 'disabled', now: string, baseUrl: string | undefined) {
  const message = `${state.message} The alert was ${verb}.`;
  return announcementOf('resolved', alert, { ...state, message, since: now }, baseUrl);
}

const HEADINGS = { 'alert.firing': 'Alert', 'alert.resolved': 'Resolved', 'alert.test': 'Test' } as const;

export function subjectOf({ type, alert }: Announcement): string {
  return `${HEADINGS[type]}: ${alert.name}`;
}
export function textOf(announcement: Announcement): string {
  const { message, since, event_id, link } = announcement;
  return [
    subjectOf(announcement),
    message,
    `Since ${since}.`,
    ...(event_id === null ? [] : [`${announcement.alert.kind === 'backlog' ? 'Oldest' : 'First'} event: ${event_id}`]),
    ...(link === null ? [] : [link]),
  ].join('\n');
}
