/** The conditions on an event's outcomes that no index answers: they are checked against the steps of each event. */
import { reasonAndAnswer, type TraceEventRow, type TraceStepRow, UNTRACED } from './rows.ts';
import { MINUTE } from './stats.ts';
import type { TraceCondition } from './traces.ts';

export interface OutcomeFilter extends TraceCondition {
  /** Why the event was dropped or failed, as a whole or at an integration. */
  reason?: string;
  /**
   * The last step of the event at an integration (any, or `integration_id`) is this one, or it ended so before routing. `waiting`: there is no
   * step yet, or another attempt or result is to come. `failed`: any step is a failed attempt, also where a later one succeeded.
   */
  delivery?: TraceStepRow['kind'] | 'not_delivered' | 'waiting' | 'failed';
  /**
   * The integrations of each pipeline, and when each was added: events that have no step at an integration are its own since then. Needed for
   * `waiting`, and for what ended before routing.
   */
  assigned?: ReadonlyMap<string, readonly { id: string; since: number }[]>;
  integration_id?: string;
  /** The outcomes that `status`, `delivery` and `reason` ask for came in this time: any of them, also where a later one followed. */
  outcome?: { from?: number; to?: number };
}

export type SearchedStep = Pick<TraceStepRow, 'integration_id' | 'at' | 'kind' | 'reason'>;
type Ended = Pick<TraceEventRow, 'pipeline_id' | 'processed_at' | 'result' | 'reason'>;

/** Of an event as a whole, and at integrations. */
export interface CountedOutcomes {
  ofEvent: number;
  ofSteps: number;
}
/** How many outcomes of an event the statistics count in this time, under the other conditions. */
export function countOutcomes(
  filter: OutcomeFilter,
  { from, to }: NonNullable<OutcomeFilter['outcome']>,
  row: Ended,
  steps: SearchedStep[],
): CountedOutcomes {
  const { reason, delivery, integration_id } = filter;
  const isDue = (at: number) => at >= (from ?? Number.NEGATIVE_INFINITY) && at <= (to ?? Number.POSITIVE_INFINITY);
  const ofEvent = () => {
    if (!isDue(Number(row.processed_at)) || (reason !== undefined && row.reason !== reason)) return false;
    if (delivery === undefined) return integration_id === undefined && (reason !== undefined || filter.status !== undefined);
    if (delivery === 'failed') return integration_id === undefined && row.result === 'dead_lettered';
    return delivery === row.result && endedBeforeRouting(filter, row);
  };
  const isCounted = (step: SearchedStep) =>
    isDue(step.at) &&
    (integration_id === undefined || step.integration_id === integration_id) &&
    (delivery === undefined ? reason !== undefined : delivery === 'failed' ? FAILED.includes(step.kind) : step.kind === delivery) &&
    (reason === undefined || reasonAndAnswer(step).reason === reason);
  return { ofEvent: ofEvent() ? 1 : 0, ofSteps: steps.filter(isCounted).length };
}
/**
 * Dropped, or failed in processing: it has no steps then. For an integration it counts from the minute in which that was added, as in the
 * statistics.
 */
function endedBeforeRouting({ integration_id, assigned }: OutcomeFilter, row: Ended): boolean {
  if (row.result === 'processed') return false;
  if (integration_id === undefined) return true;
  const added = assigned?.get(row.pipeline_id)?.find(({ id }) => id === integration_id)?.since ?? Number.POSITIVE_INFINITY;
  return Math.floor(added / MINUTE) <= Math.floor(Number(row.processed_at) / MINUTE);
}

export function matchesSteps(filter: OutcomeFilter, row: Ended, steps: SearchedStep[]): boolean {
  const { reason, delivery, integration_id, assigned } = filter;
  if (reason !== undefined && row.reason !== reason && !steps.some((step) => reasonAndAnswer(step).reason === reason)) return false;
  if (delivery === undefined && integration_id === undefined) return true;
  if (row.result !== 'processed' && (delivery === row.result || delivery === 'not_delivered')) return endedBeforeRouting(filter, row);
  if (delivery === 'failed')
    return (
      (integration_id === undefined && row.result === 'dead_lettered') ||
      steps.some((step) => FAILED.includes(step.kind) && (integration_id === undefined || step.integration_id === integration_id))
    );
  const last = new Map<string, number>();
  for (const step of steps) last.set(step.integration_id, Math.max(step.at, last.get(step.integration_id) ?? 0));
  if (delivery === 'waiting' && row.result === 'processed' && row.reason !== UNTRACED) {
    const due = assigned?.get(row.pipeline_id) ?? [];
    const isDue = ({ id, since }: { id: string; since: number }) =>
      !last.has(id) && since <= Number(row.processed_at) && (integration_id === undefined || id === integration_id);
    if (due.some(isDue)) return true;
  }
  return steps.some(
    (step) =>
      step.at === last.get(step.integration_id) &&
      (integration_id === undefined || step.integration_id === integration_id) &&
      (delivery === undefined || fits(step.kind, delivery)),
  );
}

const FAILED: readonly TraceStepRow['kind'][] = ['retrying', 'dead_lettered'];

function fits(kind: TraceStepRow['kind'], delivery: NonNullable<OutcomeFilter['delivery']>): boolean {
  if (delivery === 'not_delivered') return kind !== 'delivered';
  if (delivery === 'waiting') return kind === 'retrying' || kind === 'accepted_by_vendor';
  return kind === delivery;
}
