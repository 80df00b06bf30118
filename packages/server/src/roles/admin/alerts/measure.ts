/** The value of an alert now: a counter of its window, or the backlog. */
import type { Alert } from '@firsthand/core/config/alert.ts';
import type { Integration } from '@firsthand/core/config/resources.ts';
import type { StatsEntry } from '@firsthand/core/outcome/stats-entry.ts';
import { waitingFor } from '../../../operations/health.ts';
import type { Operations } from '../../../operations/operations.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { readStats, readStatsBy, type Stats } from '../../../stores/observe/stats.ts';

const MINUTE = 60_000;

export interface Measured {
  value: number;
  /** The value reached the threshold; for `silent`, fell below it. */
  over: boolean;
  /** The first minute of the window that counts, in milliseconds; undefined where nothing was counted. */
  firstAt: number | undefined;
  /** Of a backlog: the integration that has the oldest waiting event, and when that was stored. */
  oldest?: { integration: Integration; at: number };
}
export type MeasureDeps = Pick<Operations, 'observe' | 'log' | 'snapshots'> & { clock: Clock };

/**
 * Undefined where there is nothing to watch: the pipeline or integration is deleted, disabled or younger than the window. Unknown while the
 * log cannot be reached: an alert must neither fire nor end then.
 */
export async function measure(deps: MeasureDeps, alert: Alert): Promise<Measured | 'unknown' | undefined> {
  if (!isWatched(deps, alert)) return undefined;
  const threshold = Math.max(1, alert.threshold);
  if (alert.kind === 'backlog') {
    const backlog = await backlogOf(deps, alert);
    if (backlog === 'unknown') return backlog;
    const { value, oldest } = backlog;
    return { value, over: value >= threshold, firstAt: undefined, ...(oldest && { oldest }) };
  }
  const stats = await statsOf(deps, alert);
  const count = counterOf(alert.kind);
  const value = stats === undefined ? 0 : count(stats.totals);
  const first = stats?.series.find((entry) => count(entry) > 0);
  const over = alert.kind === 'silent' ? value < threshold : value >= threshold;
  return { value, over, firstAt: first && Date.parse(first.time) };
}

function counterOf(kind: Exclude<Alert['kind'], 'backlog'>): (entry: StatsEntry) => number {
  switch (kind) {
    case 'failing':
      return ({ retried, dead_lettered, dead_lettered_again }) => retried + dead_lettered + dead_lettered_again;
    case 'silent':
      return ({ received }) => received;
    case 'dead_letters':
      return ({ dead_lettered, dead_lettered_again }) => dead_lettered + dead_lettered_again;
    case 'plan_violations':
      return ({ plan_violations, dropped }) => plan_violations + (dropped.tracking_plan ?? 0);
    case 'rejected':
      return ({ rejected }) => rejected;
  }
}

function isWatched({ snapshots, clock }: MeasureDeps, alert: Alert): boolean {
  const { pipelines, integrations } = snapshots.current();
  if (alert.integration_id !== null) {
    const integration = integrations.get(alert.integration_id)?.integration;
    if (integration === undefined || !integration.enabled) return false;
  }
  // A new alert is silent only after a whole window.
  if (alert.kind === 'silent' && clock.now() - Date.parse(alert.created_at) < alert.window_minutes * MINUTE) return false;
  if (alert.pipeline_id === null) return true;
  const pipeline = pipelines.get(alert.pipeline_id)?.pipeline;
  if (pipeline === undefined || !pipeline.enabled) return false;
  const age = clock.now() - Date.parse(pipeline.created_at);
  return alert.kind !== 'silent' || age >= alert.window_minutes * MINUTE;
}

/** Undefined: nothing was counted for the integration. */
async function statsOf({ observe, clock }: MeasureDeps, alert: Alert): Promise<Stats | undefined> {
  const now = clock.now();
  const query = {
    org_id: alert.org_id,
    // Counters are per minute: the one in which the window begins counts whole.
    from: now - alert.window_minutes * MINUTE,
    to: now,
    interval: 'minute',
    // An event that its processing gave up is a dead letter as well, but no attempt.
    of_integrations: alert.kind === 'failing',
    ...(alert.pipeline_id === null ? {} : { pipeline_id: alert.pipeline_id }),
  } as const;
  if (alert.integration_id === null) return await readStats(observe, query);
  return (await readStatsBy(observe, query, 'integration_id')).get(alert.integration_id);
}

async function backlogOf({ snapshots, log }: MeasureDeps, alert: Alert): Promise<Pick<Measured, 'value' | 'oldest'> | 'unknown'> {
  const watched = ({ id, org_id, pipeline_id, enabled }: Integration) =>
    enabled &&
    org_id === alert.org_id &&
    (alert.integration_id === null || id === alert.integration_id) &&
    (alert.pipeline_id === null || pipeline_id === alert.pipeline_id);
  const integrations = [...snapshots.current().integrations.values()].map(({ integration }) => integration).filter(watched);
  let value = 0;
  let oldest: Measured['oldest'];
  for (const integration of integrations) {
    const { waiting, oldest: at, known } = await waitingFor(log, integration);
    if (!known) return 'unknown';
    value += waiting;
    if (at !== undefined && at < (oldest?.at ?? Number.POSITIVE_INFINITY)) oldest = { integration, at };
  }
  return { value, ...(oldest && { oldest }) };
}
