/** Delivery health of an integration, from the recorder's rows, the log's lag, the snapshot's faults and announcements of deliverers. */
import type { Integration } from '@firsthand/core/config/resources.ts';
import {
  DELIVERY_HEALTH_CHANNEL,
  type DeliveryHealthNotice,
  SOURCE_STATUS_CHANNEL,
  type SourceStatus,
  type SourceStatusNotice,
} from '../channels.ts';
import { eventsTopic, replayTopic } from '../event-record.ts';
import type { Clock } from '../runtime/clock.ts';
import { inTurns } from '../runtime/turns.ts';
import type { SnapshotSource } from '../snapshot/types.ts';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { EventLog } from '../stores/event-log/port.ts';
import { readHealth } from '../stores/observe/dead-letters.ts';
import type { ObserveDb } from '../stores/observe/schema.ts';
import { Announcements } from './announcements.ts';
import { SLACK_MS, whileAvailable } from './find-events.ts';

export interface IntegrationHealth {
  status: 'ok' | 'failing' | 'paused' | 'misconfigured';
  last_success_at: string | null;
  last_error: string | null;
  waiting: number;
  oldest_waiting_at: string | null;
  warnings: string[];
}
export interface HealthDeps {
  log: EventLog;
  observe: ObserveDb;
  snapshots: SnapshotSource;
  /** Whether a deliverer reports the integration as paused by a limit. */
  paused(integrationId: string): boolean;
  /** Why the integration cannot run, as its deliverer reports; undefined where it runs. */
  cannotRun(integrationId: string): string | undefined;
}
const LOG_AWAY = 'the event log cannot be reached: nothing is delivered, and how many events wait is not known';
const iso = (ms: number | null | undefined) => (ms === null || ms === undefined ? null : new Date(ms).toISOString());

export async function integrationHealth(deps: HealthDeps, integrations: Integration[]): Promise<Map<string, IntegrationHealth>> {
  const rows = await readHealth(
    deps.observe,
    integrations.map(({ id }) => id),
  );
  const health = new Map<string, IntegrationHealth>();
  await inTurns(integrations, async (integration) => {
    const row = rows.get(integration.id);
    const compiled = deps.snapshots.current().integrations.get(integration.id);
    const { waiting, oldest, known } = await waitingFor(deps.log, integration);
    const cannotRun = known ? deps.cannotRun(integration.id) : LOG_AWAY;
    const failing = cannotRun !== undefined || (row?.last_error_at ?? 0) > (row?.last_success_at ?? 0);
    const paused = !integration.enabled || deps.paused(integration.id);
    const misconfigured = compiled !== undefined && compiled.vendor === undefined;
    health.set(integration.id, {
      status: misconfigured ? 'misconfigured' : paused ? 'paused' : failing ? 'failing' : 'ok',
      last_success_at: iso(row?.last_success_at),
      last_error: cannotRun ?? row?.last_error ?? null,
      waiting,
      oldest_waiting_at: iso(oldest),
      warnings: [
        ...(compiled?.faults.map(({ field, message }) => `${field}: ${message}`) ?? []),
        ...(compiled?.warnings ?? []),
        ...(compiled?.vendor?.expiryWarnings(Date.now()) ?? []),
      ],
    });
  });
  return health;
}

interface Waiting {
  waiting: number;
  /** Included in `waiting`. These events were already counted when first received. */
  replays: number;
  oldest: number | undefined;
  /** False while the log cannot be reached: nothing is counted. */
  known: boolean;
  /** False before the first deliverer: events that wait for it are not counted yet. */
  started: boolean;
}
export async function waitingFor(log: EventLog, integration: Pick<Integration, 'id' | 'pipeline_id'>): Promise<Waiting> {
  // Not asked for each of thousands of integrations: every question would wait for its timeout.
  const counted = log.available ? await whileAvailable(countWaiting(log, integration)) : undefined;
  return counted ?? { waiting: 0, replays: 0, oldest: undefined, known: false, started: false };
}
async function countWaiting(log: EventLog, { id, pipeline_id }: Pick<Integration, 'id' | 'pipeline_id'>): Promise<Waiting> {
  const topic = eventsTopic(pipeline_id);
  // Before the counts are asked for: a count that fails while this is awaited would be an unhandled rejection.
  const present = await log.groups(topic);
  const groups = lanesOf(present, id);
  const [replays, ...lanes] = await Promise.all([log.lag(replayTopic(id), id), ...groups.map((group) => log.lag(topic, group))]);
  const times = [...lanes, replays].flatMap(({ oldest }) => (oldest === undefined ? [] : [oldest]));
  return {
    // Every lane counts all records behind its cursor, so their sum would count events several times.
    waiting: Math.max(...lanes.map(({ waiting }) => waiting)) + replays.waiting,
    replays: replays.waiting,
    oldest: times.length === 0 ? undefined : Math.min(...times),
    known: true,
    started: groups.every((group) => present.includes(group)),
  };
}
/**
 * No event that was processed before this time waits for any of the integrations. Infinity: none waits. Minus infinity: not known, because
 * the log does not tell, or because a replayed event waits, which may be of any age.
 */
export async function waitingSince(log: EventLog, integrations: readonly Pick<Integration, 'id' | 'pipeline_id'>[]): Promise<number> {
  const times = await inTurns(integrations, async (each) => {
    const { started, replays, oldest = Number.POSITIVE_INFINITY } = await waitingFor(log, each);
    return started && replays === 0 ? oldest - SLACK_MS : Number.NEGATIVE_INFINITY;
  });
  return Math.min(...times);
}

/** Events that wait for any of the integrations, which may be thousands. Without replays. */
export async function backlogOf(log: EventLog, integrations: readonly Pick<Integration, 'id' | 'pipeline_id'>[]): Promise<number> {
  const lags = await inTurns(integrations, (each) => waitingFor(log, each));
  return lags.reduce((sum, { waiting, replays }) => sum + waiting - replays, 0);
}

/** The groups that deliver an integration: one with its id, or one for each process that shares the work (`<id>~…`). */
function lanesOf(groups: readonly string[], id: string): string[] {
  const lanes = groups.filter((group) => group.startsWith(`${id}~`));
  return lanes.length === 0 || groups.includes(id) ? [id, ...lanes] : lanes;
}

/** Deliverers announce what outcomes cannot show: pauses, and integrations that cannot run. */
export function watchDeliverers(ephemeral: Ephemeral, clock: Clock): Pick<HealthDeps, 'paused' | 'cannotRun'> & { stop(): void } {
  const known = new Announcements<true>(clock);
  const reasons = new Announcements<string>(clock);
  const stop = ephemeral.subscribe(DELIVERY_HEALTH_CHANNEL, (message) => {
    const { integrations = [], interval_ms = 5_000 } = message as Partial<DeliveryHealthNotice>;
    const paused = integrations.filter(({ status }) => status === 'paused');
    known.note(
      paused.map(({ integration_id }) => [integration_id, true]),
      interval_ms,
    );
    reasons.note(
      integrations.flatMap(({ integration_id, reason }) => (reason === undefined ? [] : [[integration_id, reason] as const])),
      interval_ms,
    );
  });
  return { paused: (id) => known.get(id) === true, cannotRun: (id) => reasons.get(id), stop };
}

/** The status of sources, from the processes that read them. */
export function watchSources(ephemeral: Ephemeral, clock: Clock): { statusOf(sourceId: string): SourceStatus | undefined; stop(): void } {
  const known = new Announcements<SourceStatus>(clock);
  const stop = ephemeral.subscribe(SOURCE_STATUS_CHANNEL, (message) => {
    const { sources = [], interval_ms = 2_000 } = message as Partial<SourceStatusNotice>;
    known.note(
      sources.map((status) => [status.webhook_source_id, status]),
      interval_ms,
    );
  });
  return { statusOf: (id) => known.get(id), stop };
}
