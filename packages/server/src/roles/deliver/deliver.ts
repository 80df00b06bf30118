/**
 * The delivery role: a worker for every integration of the snapshot, made, changed and ended as the snapshot changes.
 */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { Logger } from 'pino';
import type { Settings } from '../../config.ts';

import { createGuardedClient, type GuardedClient } from '../../outbound/guarded-client.ts';
import { createTokenCache, type TokenCache } from '../../outbound/tokens.ts';
import type { Clock } from '../../runtime/clock.ts';
import { chance } from '../../runtime/ids.ts';
import type { CompiledIntegration, Snapshot, SnapshotSource } from '../../snapshot/types.ts';
import type { EventLog } from '../../stores/event-log/port.ts';
import type { Tap } from '../../tap/port.ts';
import {
  DELIVERY_HEALTH_CHANNEL,
  type DeliverMetrics,
  type DeliveryHealthNotice,
  type Ephemeral,
  type IntegrationHealth,
  type WorkerDeps,
} from './ports.ts';
import { RecordCache } from './record-cache.ts';
import { type DeliveryTest, testDelivery } from './test-delivery.ts';
import { Worker } from './worker.ts';

export interface DeliverDeps {
  log: EventLog;
  snapshots: SnapshotSource;
  tap: Tap;
  settings: Pick<Settings, 'retryBaseMs' | 'deadLetterRetentionMs' | 'allowPrivateDestinations'>;
  clock: Clock;
  /** In [0, 1). */
  random: () => number;
  logger: Logger;
  metrics?: DeliverMetrics;
  /** Where the health is published and `replay` hints are heard; without it, this process alone knows. */
  ephemeral?: Ephemeral;
  /** Shared with whoever else sends; made here where absent. */
  client?: GuardedClient;
  tokens?: TokenCache;
}
export interface Deliver {
  /** In-flight requests may finish, for `graceMs` at most; the rest stays in the log. */
  stop(graceMs?: number): Promise<void>;
  /** Undefined for an integration that this process does not deliver. */
  health(integrationId: string): Promise<IntegrationHealth | undefined>;
  testDelivery(integration: CompiledIntegration, event: CanonicalEvent): Promise<DeliveryTest>;
}

/** Publish on this channel after appending to a replay topic: it is then looked at once instead of at the next round. */
export const REPLAY_CHANNEL = 'replay';

const GRACE_MS = 8_000;
const CACHE_BYTES = 16 * 1024 * 1024;
/** All that all workers hold of events together; each has its equal share and never waits for another's. */
const HELD_BYTES = 256 * 1024 * 1024;
const MAX_SHARE = 16 * 1024 * 1024;
const REPLAY_ROUND_MS = 2_000;
const HEALTH_ROUND_MS = 5_000;
const RETIRE_ROUND_MS = 500;
const EXPIRE_ROUND_MS = 3_600_000;

export function startDeliver(deps: DeliverDeps): Deliver {
  const { log, snapshots, clock, logger } = deps;
  const client = deps.client ?? createGuardedClient({ allowPrivateDestinations: deps.settings.allowPrivateDestinations, clock });
  const tokens = deps.tokens ?? createTokenCache({ client, clock });
  const workerDeps: WorkerDeps = {
    log,
    tap: deps.tap,
    clock,
    random: deps.random,
    logger,
    metrics: deps.metrics,
    client,
    tokens,
    settings: deps.settings,
  };
  const workers = new Map<string, Worker>();
  const perPipeline = new Map<string, number>();
  const retiring = new Set<Worker>();
  const cache = new RecordCache(CACHE_BYTES);
  const from = chance(8);
  let stopped = false;

  function count(pipelineId: string, by: 1 | -1) {
    perPipeline.set(pipelineId, (perPipeline.get(pipelineId) ?? 0) + by);
  }
  function start(compiled: CompiledIntegration) {
    const { id, pipeline_id } = compiled.integration;
    count(pipeline_id, 1);
    workers.set(
      id,
      new Worker(workerDeps, compiled, {
        cache,
        byteBudget: () => Math.min(MAX_SHARE, HELD_BYTES / Math.max(1, workers.size)),
        sharesPipeline: () => (perPipeline.get(pipeline_id) ?? 0) > 1,
      }),
    );
  }
  function reconcile(snapshot: Snapshot) {
    if (stopped) return;
    for (const [id, compiled] of snapshot.integrations) {
      const worker = workers.get(id);
      if (worker) worker.update(compiled);
      else start(compiled);
    }
    for (const [id, worker] of workers) {
      if (snapshot.integrations.has(id)) continue;
      workers.delete(id);
      count(worker.pipelineId, -1);
      worker.retire(snapshot.pipelines.has(worker.pipelineId) ? 'integration_deleted' : 'pipeline_deleted');
      worker.replay();
      retiring.add(worker);
    }
    if (retiring.size > 0) scheduleRetirement();
  }

  let retirement: NodeJS.Timeout | undefined;
  function scheduleRetirement() {
    retirement ??= setTimeout(() => {
      retirement = undefined;
      void endRetired();
    }, RETIRE_ROUND_MS);
  }
  /** A deleted integration's worker lives until all that waited has been dropped with its reason. */
  async function endRetired() {
    for (const worker of retiring) {
      try {
        if ((await worker.waiting()).waiting > 0) continue;
        await worker.stop(GRACE_MS);
        await worker.forget();
        retiring.delete(worker);
      } catch (error) {
        logger.warn({ err: error, integration_id: worker.id }, 'a deleted integration cannot be removed from the log yet; trying on');
      }
    }
    if (retiring.size > 0 && !stopped) scheduleRetirement();
  }

  let lookingForReplays = false;
  async function findReplays() {
    if (lookingForReplays || stopped) return;
    lookingForReplays = true;
    try {
      for (const topic of await log.topics('replay.')) workers.get(topic.slice('replay.'.length))?.replay();
    } catch (error) {
      logger.warn({ err: error }, 'replays cannot be looked for; trying on');
    }
    lookingForReplays = false;
  }
  function publishHealth() {
    const integrations: DeliveryHealthNotice['integrations'] = [];
    for (const worker of workers.values()) {
      const { status, until } = worker.status;
      if (status !== 'ok')
        integrations.push({ integration_id: worker.id, status, ...(until === undefined ? {} : { until: new Date(until).toISOString() }) });
    }
    deps.ephemeral?.publish(DELIVERY_HEALTH_CHANNEL, { integrations, interval_ms: HEALTH_ROUND_MS, from } satisfies DeliveryHealthNotice);
  }
  async function expireLimits() {
    for (const worker of workers.values())
      await worker.expireLimits().catch((error: unknown) => logger.warn({ err: error }, 'old daily counts cannot be removed'));
  }

  reconcile(snapshots.current());
  void findReplays();
  const unsubscribe = [
    snapshots.onChange(reconcile),
    deps.ephemeral?.subscribe(REPLAY_CHANNEL, () => void findReplays()) ?? (() => undefined),
  ];
  const timers = [
    setInterval(() => void findReplays(), REPLAY_ROUND_MS),
    setInterval(publishHealth, HEALTH_ROUND_MS),
    setInterval(() => void expireLimits(), EXPIRE_ROUND_MS),
  ];

  return {
    async stop(graceMs = GRACE_MS) {
      if (stopped) return;
      stopped = true;
      for (const end of unsubscribe) end();
      for (const timer of timers) clearInterval(timer);
      clearTimeout(retirement);
      await Promise.all([...workers.values(), ...retiring].map((worker) => worker.stop(graceMs)));
      if (deps.client === undefined) await client.close();
    },
    async health(integrationId) {
      const worker = workers.get(integrationId);
      if (!worker) return undefined;
      const { waiting, oldest } = await worker.waiting();
      const { successAt, error } = worker.last;
      const { faults, warnings } = worker.compiled;
      return {
        status: worker.status.status,
        last_success_at: successAt === undefined ? null : new Date(successAt).toISOString(),
        last_error: error?.reason ?? null,
        waiting,
        oldest_waiting_at: oldest === undefined ? null : new Date(oldest).toISOString(),
        warnings: [...faults.map(({ field, message }) => `${field}: ${message}`), ...warnings],
      };
    },
    testDelivery: (integration, event) => testDelivery({ client, tokens, clock }, integration, event),
  };
}
