/** The filters of the events page. They stand in the address, so that a shared link shows the same list. */
import { limitsOf } from '../../time-range.ts';

export interface EventsSearch {
  pipeline?: string;
  event?: string;
  user?: string;
  visitor?: string;
  integration?: string;
  /** `browser`, `server`, `webhook`, or the id of a webhook source. */
  source?: string;
  delivery?: string;
  reason?: string;
  status?: string;
  plan?: string;
  range?: string;
  /** `outcome`: `range` is the time of the result that is asked for, as the statistics count it, and not of receipt. */
  time?: string;
  selected?: string;
  /** The pipeline of the selected event: two pipelines may have the same event id. */
  selected_in?: string;
  live?: string;
  /** The tab of the selected event. */
  view?: string;
  /** The integration whose request is open. */
  request?: string;
}
export type FilterName = Exclude<keyof EventsSearch, keyof typeof NOTHING_SELECTED | 'live'>;
/** Closes the panel. */
export const NOTHING_SELECTED = { selected: undefined, selected_in: undefined, view: undefined, request: undefined };
export const FILTERS: readonly FilterName[] = [
  'pipeline',
  'source',
  'event',
  'user',
  'visitor',
  'integration',
  'delivery',
  'reason',
  'status',
  'plan',
  'range',
  'time',
];

export const DELIVERIES = {
  delivered: 'delivered',
  not_delivered: 'not delivered',
  dropped: 'dropped by your rules',
  waiting: 'waiting: not tried yet, or to be tried again',
  retrying: 'retrying',
  failed: 'attempt failed, also if a later one succeeded',
  accepted_by_vendor: 'accepted by the vendor',
  dead_lettered: 'dead letter',
} as const;
export const SOURCES = { browser: 'browser', server: 'server', webhook: 'any webhook' } as const;
export const STATUSES = {
  processed: 'processed',
  dropped: 'dropped before routing',
  dead_lettered: 'failed in processing',
  rejected: 'rejected at the door',
} as const;

export const PLAN = { violated: 'violated' } as const;
export const TIMES = { outcome: 'time of the result' } as const;

/** The events that a number of the statistics counts: those whose result came in the time. */
export const countedEvents = (search: EventsSearch): EventsSearch => ({ ...search, time: 'outcome' });
const hasOutcome = ({ delivery, reason, status }: EventsSearch): boolean =>
  delivery !== 'waiting' && delivery !== 'not_delivered' && [delivery, reason, status].some((each) => each !== undefined);

/** Filters that the API does not apply to rejected events. */
const NOT_FOR_REJECTED: readonly FilterName[] = ['event', 'integration', 'delivery', 'source', 'plan', 'time'];
export const canBeAdded = (name: FilterName, search: EventsSearch): boolean =>
  (search.status !== 'rejected' || !NOT_FOR_REJECTED.includes(name)) &&
  (name !== 'time' || (search.range !== undefined && hasOutcome(search)));

/** The filters as the API takes them; a value that it does not know is left out. */
export function queryOf(search: EventsSearch) {
  const { pipeline, source, event, user, visitor, integration, delivery, reason, status, plan, range, time } = search;
  const limits = range === undefined ? undefined : limitsOf(range);
  const isOfOutcome = isKey(TIMES, time) && status !== 'rejected' && hasOutcome(search);
  return {
    ...(pipeline === undefined ? {} : { pipeline_id: pipeline }),
    ...(source === undefined ? {} : isKey(SOURCES, source) ? { source } : { webhook_source_id: source }),
    ...(event === undefined ? {} : { event }),
    ...(user === undefined ? {} : { user_id: user }),
    ...(visitor === undefined ? {} : { anonymous_id: visitor }),
    ...(integration === undefined ? {} : { integration_id: integration }),
    ...(isKey(DELIVERIES, delivery) ? { delivery } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(isKey(STATUSES, status) ? { status } : {}),
    ...(isKey(PLAN, plan) ? { plan_violation: true } : {}),
    ...(limits && isOfOutcome ? { outcome_from: limits.from, ...(limits.to && { outcome_to: limits.to }) } : limits),
  };
}
function isKey<T extends object>(table: T, text: string | undefined): text is Extract<keyof T, string> {
  return text !== undefined && Object.hasOwn(table, text);
}
/** What of the live frames the list shows. */
export const scopeOf = ({ pipeline, event }: EventsSearch) => ({
  ...(pipeline === undefined ? {} : { pipeline_id: pipeline }),
  ...(event === undefined ? {} : { event }),
});
/** Live frames say nothing of users or final results: only these filters can be applied to them. */
export function canBeLive(search: EventsSearch): boolean {
  return FILTERS.every((name) => name === 'pipeline' || name === 'event' || search[name] === undefined);
}
