/** The delivery role: one worker per integration of the snapshot, and the periodic checks for all of them. */
import { DELIVERY_HEALTH_CHANNEL, type DeliveryHealthNotice, REPLAY_CHANNEL } from '../../channels.ts';
import { randomText } from '../../runtime/ids.ts';
import type { Logger } from '../../runtime/logger.ts';
import { turns } from '../../runtime/turns.ts';
import { AttemptCounts } from './attempt-counts.ts';
import { registerBacklogGauges } from './backlog-gauges.ts';
import type { DeliverDeps, IntegrationHealth } from './deps.ts';
import { Fleet } from './fleet.ts';
import { leaseIntegrations } from './integration-leases.ts';
import { LaneBook } from './lane-book.ts';
import type { Worker } from './worker.ts';

export interface DeliverRole {
  /** In-flight requests may finish within `graceMs`; everything else stays in the log. */
  stop(graceMs?: number): Promise<void>;
  /** Undefined for an integration that this process does not deliver. */
  health(integrationId: string): Promise<IntegrationHealth | undefined>;
}

const GRACE_MS = 8_000;
const REPLAY_ROUND_MS = 2_000;
const HEALTH_ROUND_MS = 2_000;
const LANE_ROUND_MS = 1_000;
/** Reads the groups of every pipeline: rare, because a deleted integration is normally retired at once. */
const ORPHAN_ROUND_MS = 300_000;
const EXPIRE_ROUND_MS = 3_600_000;

export function startDeliver(deps: DeliverDeps): DeliverRole {
  const { log, snapshots, logger } = deps;
  const attempts = new AttemptCounts();
  // Other processes may have changed the lanes of what is won.
  const share = leaseIntegrations(deps.leases, { won: () => lanes?.load(), lost: () => fleet.release() });
  const lanes = deps.leases && new LaneBook(deps, () => fleet.reconcile());
  const workerDeps = { ...deps, attempts, compileRevision: deps.compileRevision };
  const fleet = new Fleet(workerDeps, snapshots.current(), share.owns, GRACE_MS, lanes);
  const from = randomText(8);
  if (deps.registry) {
    attempts.register(deps.registry);
    registerBacklogGauges(deps.registry, () => fleet.workers.values(), deps.clock);
  }

  async function findReplays() {
    for (const topic of await log.topics('replay.')) fleet.replayerOf(topic.slice('replay.'.length))?.replay();
  }
  async function expireLimits() {
    for (const worker of fleet.workers.values()) await worker.expireLimits();
  }
  async function publishHealth() {
    const integrations: DeliveryHealthNotice['integrations'] = [];
    for (const { integrationId, reason } of fleet.notStarted)
      integrations.push({ integration_id: integrationId, status: 'failing', reason });
    for (const worker of fleet.workers.values()) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      const { status, until, reason } = worker.status;
      if (status === 'ok') continue;
      const more = { ...(until !== undefined && { until: new Date(until).toISOString() }), ...(reason !== undefined && { reason }) };
      integrations.push({ integration_id: worker.id, status, ...more });
    }
    if (integrations.length === 0) return;
    deps.ephemeral?.publish(DELIVERY_HEALTH_CHANNEL, { integrations, interval_ms: HEALTH_ROUND_MS, from } satisfies DeliveryHealthNotice);
  }
  const lookForReplays = oneAtATime(findReplays, 'replay check failed, retrying later', logger);
  const rounds = [
    setInterval(lookForReplays, REPLAY_ROUND_MS),
    setInterval(oneAtATime(publishHealth, 'health notice not published, retrying later', logger), HEALTH_ROUND_MS),
    setInterval(
      oneAtATime(() => fleet.findOrphans(), 'check for deleted integrations failed, retrying later', logger),
      ORPHAN_ROUND_MS,
    ),
    setInterval(
      oneAtATime(() => fleet.tendLanes(), 'delivery lanes not changed, retrying later', logger),
      LANE_ROUND_MS,
    ),
    setInterval(oneAtATime(expireLimits, 'old daily counts not removed, retrying later', logger), EXPIRE_ROUND_MS),
  ];
  const unsubscribe = [snapshots.onChange((snapshot) => fleet.adopt(snapshot))];
  if (deps.ephemeral) unsubscribe.push(deps.ephemeral.subscribe(REPLAY_CHANNEL, lookForReplays));
  fleet.reconcile();
  lookForReplays();

  let stopping: Promise<void> | undefined;
  async function stop(graceMs: number): Promise<void> {
    for (const end of unsubscribe) end();
    for (const round of rounds) clearInterval(round);
    // The others learn that this process leaves while its requests end. No integration is released before that.
    await Promise.all([fleet.stop(graceMs), share.stop()]);
  }
  return {
    stop: (graceMs = GRACE_MS) => (stopping ??= stop(graceMs)),
    health: async (integrationId) => healthOf(fleet.replayerOf(integrationId)),
  };
}

async function healthOf(worker: Worker | undefined): Promise<IntegrationHealth | undefined> {
  if (!worker) return undefined;
  const { waiting, oldest } = await worker.waiting();
  const { successAt, error } = worker.last;
  const { faults, warnings } = worker.compiled;
  return {
    status: worker.status.status,
    last_success_at: successAt === undefined ? null : new Date(successAt).toISOString(),
    last_error: worker.status.reason ?? error?.reason ?? null,
    waiting,
    oldest_waiting_at: oldest === undefined ? null : new Date(oldest).toISOString(),
    warnings: [...faults.map(({ field, message }) => `${field}: ${message}`), ...warnings],
  };
}

/** Skips a run while the previous one lasts. A failure is logged; the next interval tries again. */
function oneAtATime(round: () => Promise<void>, failure: string, logger: Logger): () => void {
  let running = false;
  return () => {
    if (running) return;
    running = true;
    round()
      .catch((error: unknown) => logger.warn({ err: error }, failure))
      .finally(() => {
        running = false;
      });
  };
}
