/** The process role: owns some of the ingest partitions and turns raw events into the events that delivery sends. */
import { VISITORS_ERASED_CHANNEL, type VisitorsErased } from '../../channels.ts';
import { ingestPartitions, ingestTopic } from '../../partition.ts';
import { shareSets } from '../../partition-leases.ts';
import type { ProcessDeps } from './deps.ts';
import { KnownPipelines } from './known-pipelines.ts';
import { registerLagGauge } from './lag-gauge.ts';
import { PartitionReader } from './partition-reader.ts';
import { mayRead } from './partition-switch.ts';
import { VisitorCache } from './visitor-cache.ts';
import { VisitorLanes } from './visitor-lanes.ts';

const DRAIN_MS = 4_000;
const SAVE_MS = 500;
const SWEEP_EVERY_MS = 60_000;
const LOOK_FOR_PARENT_MS = 500;
/** The families of topics that results are written to. */
const RESULTS = ['events', 'outcomes'];

export interface ProcessRole {
  /** Finishes in-flight events within a few seconds and releases the partitions. */
  stop(): Promise<void>;
  /** Call after erasing visitors from the store: drops them from memory. */
  forget(orgId: string, anonymousIds: readonly string[]): void;
}

export function startProcess(deps: ProcessDeps): ProcessRole {
  const cache = new VisitorCache(deps);
  const pipelines = new KnownPipelines(deps.snapshots, deps.clock, deps.settings.configReloadMs);
  const owned = new Map<string, { lanes: VisitorLanes; reader: PartitionReader }>();
  let stopping = false;
  /** Of a process that stops: a partition is released when its events are finished. */
  let draining: Promise<unknown> | undefined;

  async function won(topic: string): Promise<void> {
    if (stopping) return;
    const lanes = new VisitorLanes(topic, { ...deps, cache, pipelines });
    const reader = new PartitionReader(topic, { ...deps, lanes });
    const partition = { lanes, reader };
    owned.set(topic, partition);
    if (ingestPartitions.parentOf(topic) === undefined) await reader.start();
    else void startAfterParent(topic, partition);
  }

  /** Earlier events of this partition's visitors are in another one: they come first. */
  async function startAfterParent(topic: string, partition: { reader: PartitionReader }): Promise<void> {
    while (owned.get(topic) === partition && !stopping) {
      try {
        if (await mayRead(ingestPartitions, topic, deps.log, deps.clock.now())) return await partition.reader.start();
      } catch (error) {
        deps.logger.warn({ err: error, topic }, 'earlier partition not readable, retrying');
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_FOR_PARENT_MS));
    }
  }

  async function lost(topic: string): Promise<void> {
    const partition = owned.get(topic);
    if (partition === undefined) return;
    owned.delete(topic);
    await draining;
    // Another process may own these visitors now: do not finish their events, and drop their cached state.
    await partition.reader.stop();
    await saveVisitors();
    cache.clear();
  }

  function forget(orgId: string, anonymousIds: readonly string[]): void {
    for (const anonymousId of anonymousIds) {
      cache.forget(orgId, anonymousId);
      for (const { lanes } of owned.values()) lanes.forget(orgId, anonymousId);
    }
  }
  const unsubscribe = deps.ephemeral?.subscribe(VISITORS_ERASED_CHANNEL, (message) => {
    const { org_id, anonymous_ids } = message as VisitorsErased;
    if (typeof org_id === 'string' && Array.isArray(anonymous_ids)) forget(org_id, anonymous_ids);
  });

  let sweeping: Promise<void> = Promise.resolve();
  const sweeper = setInterval(() => {
    // One process sweeps: the owner of the first partition.
    if (owned.has(ingestTopic(0))) sweeping = sweeping.then(sweep);
  }, SWEEP_EVERY_MS);
  sweeper.unref();
  async function sweep(): Promise<void> {
    try {
      if (!stopping) await deps.visitors.sweep(deps.clock.now());
    } catch (error) {
      deps.logger.warn({ err: error }, 'expired visitors not removed, retrying in a minute');
    }
  }

  /** The next owner of a partition waits for it. */
  async function saveVisitors(): Promise<void> {
    const saved = cache.saveAll().catch((error: unknown) => deps.logger.warn({ err: error }, 'last events of sessions not saved'));
    await Promise.race([saved, new Promise((resolve) => setTimeout(resolve, SAVE_MS).unref())]);
  }

  function groupsOf(): [topic: string, group: string][] {
    return [...owned].flatMap(([topic, { reader }]) => reader.groups.map((group): [string, string] => [topic, group]));
  }

  let share: ReturnType<typeof shareSets> | undefined;
  void join();
  /** Competes for partitions once it can store their results: events of a partition that it wins would wait for that. */
  async function join(): Promise<void> {
    try {
      await deps.log.prepare?.(RESULTS);
    } catch (error) {
      deps.logger.warn({ err: error }, 'ids of stored events not readable, the first events wait for them');
    }
    if (!stopping) share = shareSets(deps.leases, () => ingestPartitions.sets, { won, lost });
  }
  if (deps.registry) registerLagGauge(deps.registry, deps.log, groupsOf, deps.clock);
  let stopped: Promise<void> | undefined;
  return {
    forget,
    stop() {
      stopping = true;
      stopped ??= (async () => {
        draining = Promise.all([...owned.values()].map(({ reader }) => reader.drain(DRAIN_MS)));
        // The others learn meanwhile that this process leaves.
        await Promise.all([draining, share?.stop()]);
        // Partitions for which the leases did not call `lost`.
        await Promise.all([...owned.keys()].map(lost));
        clearInterval(sweeper);
        await sweeping;
        pipelines.stop();
        unsubscribe?.();
      })();
      return stopped;
    },
  };
}
