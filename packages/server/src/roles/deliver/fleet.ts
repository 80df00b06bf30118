/** The workers of this process, started, updated and stopped as the snapshot and the owned integrations change. */
import { type Integration, integration as resource } from '@firsthand/core/config/integration.ts';
import { eventsTopic } from '../../event-record.ts';
import { errorText } from '../../runtime/error-text.ts';
import { atStep } from '../../runtime/stall-watch.ts';
import { turns } from '../../runtime/turns.ts';
import type { CompiledIntegration, Snapshot } from '../../snapshot/types.ts';
import type { WorkerDeps } from './deps.ts';
import type { LaneBook } from './lane-book.ts';
import { groupOf, type Lane, laneOfGroup, onlyLane, wantedLanes } from './lanes.ts';
import { RecordCache } from './record-cache.ts';
import { Worker } from './worker.ts';

const CACHE_BYTES = 2 * 1024 * 1024;
/** Bytes of held events over all workers. Each worker has an equal share and never waits for another's. */
const HELD_BYTES = 256 * 1024 * 1024;
const MAX_SHARE = 16 * 1024 * 1024;
const RETIRE_ROUND_MS = 500;
/** Until the next try of workers that could not be made. Doubles with each try. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
const ORPHAN_PREFIX = 'int_';

export class Fleet {
  /** By group. */
  readonly workers = new Map<string, Worker>();
  readonly #deps: WorkerDeps;
  readonly #graceMs: number;
  readonly #perPipeline = new Map<string, number>();
  readonly #retiring = new Map<string, Worker>();
  /** By group: lanes whose worker could not be made, and why. */
  readonly #notStarted = new Map<string, { lane: Lane; reason: string }>();
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #cache = new RecordCache(CACHE_BYTES);
  readonly #owns: (lane: Lane) => boolean;
  readonly #lanes: LaneBook | undefined;
  #snapshot: Snapshot;
  #several: { of: Snapshot; ids: string[] } | undefined;
  #orphans = new Set<string>();
  /** Lanes that are being started. What cannot be started yet waits for the next `reconcile`. */
  #missing: readonly Lane[] = [];
  #retirement: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #stopping: Promise<void> | undefined;

  /**
   * `owns`: the lanes of this process. Call `reconcile` or `release` after its answers change. Without `lanes` every integration has one
   * lane.
   */
  constructor(deps: WorkerDeps, snapshot: Snapshot, owns: (lane: Lane) => boolean, graceMs: number, lanes?: LaneBook) {
    this.#lanes = lanes;
    this.#deps = deps;
    this.#snapshot = snapshot;
    this.#owns = owns;
    this.#graceMs = graceMs;
  }

  /** Running workers get a change at once. Missing ones are started in turns: at the start of a process they may be thousands. */
  adopt(snapshot: Snapshot): void {
    const before = this.#snapshot.integrations;
    this.#snapshot = snapshot;
    if (this.#stopping !== undefined) return;
    const added: Lane[] = [];
    // Among thousands of integrations few have changed, and looking at every worker takes long.
    for (const [id, compiled] of snapshot.integrations) if (before.get(id) !== compiled) added.push(...this.#update(id, compiled));
    for (const id of before.keys()) {
      if (snapshot.integrations.has(id)) continue;
      this.#retireDeleted();
      break;
    }
    if (added.length > 0) this.#startLater([...this.#missing, ...added]);
  }
  /** Looks at every integration. */
  reconcile(): void {
    if (this.#stopping !== undefined) return;
    const missing: Lane[] = [];
    for (const [id, compiled] of this.#snapshot.integrations) missing.push(...this.#update(id, compiled));
    this.#retireDeleted();
    this.#startLater(missing);
  }
  /** Returns the lanes without a worker. */
  #update(id: string, compiled: CompiledIntegration): Lane[] {
    return (this.#lanes?.lanesOf(id) ?? [onlyLane(id)]).filter((lane) => {
      const worker = this.workers.get(groupOf(lane));
      worker?.update(compiled, lane);
      return worker === undefined;
    });
  }
  #retireDeleted(): void {
    const { integrations } = this.#snapshot;
    for (const worker of [...this.workers.values()]) if (!integrations.has(worker.id)) this.#retire(worker);
    for (const [group, { lane }] of this.#notStarted) if (!integrations.has(lane.integrationId)) this.#notStarted.delete(group);
  }
  #startLater(missing: readonly Lane[]): void {
    this.#missing = missing;
    void this.#startMissing(missing);
  }
  async #startMissing(missing: readonly Lane[]): Promise<void> {
    for (const lane of missing) {
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      // A later call has looked again.
      if (this.#stopping !== undefined || this.#missing !== missing) return;
      const compiled = this.#snapshot.integrations.get(lane.integrationId);
      if (compiled === undefined || !this.#mayStart(lane)) continue;
      atStep('start of deliverers');
      try {
        this.#start(compiled, lane);
      } catch (error) {
        this.#notStarted.set(groupOf(lane), { lane, reason: `it cannot be started: ${errorText(error)}` });
        this.#deps.logger.error({ err: error, integration_id: lane.integrationId }, 'integration not started, retrying');
      }
    }
    this.#missing = [];
    if (this.notStarted.length > 0) this.#scheduleRetry();
    else this.#retryMs = FIRST_RETRY_MS;
  }
  #scheduleRetry(): void {
    if (this.#retry) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.reconcile();
    }, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
  }
  /** Integrations of this process that could not be started, until a later try succeeds. */
  get notStarted(): { integrationId: string; reason: string }[] {
    const own = [...this.#notStarted.values()].filter(({ lane }) => this.#owns(lane));
    return own.map(({ lane, reason }) => ({ integrationId: lane.integrationId, reason }));
  }
  #mayStart(lane: Lane): boolean {
    const group = groupOf(lane);
    // The group of a lane that has passed may be removed already: `tendLanes` looks.
    if (this.#lanes?.loaded === false || this.#lanes?.hasPassed(lane)) return false;
    return this.#owns(lane) && !this.workers.has(group) && !this.#leaving.has(group) && !this.#retiring.has(group);
  }

  /**
   * The worker of an integration that reads its replays: that of the first lane. While a generation ends, its lane goes on until it is
   * finished and its worker has stopped, so that two workers never read the same replays.
   */
  replayerOf(integrationId: string): Worker | undefined {
    const oldest = this.#lanes?.lanesOf(integrationId).find(({ index }) => index === 0);
    return this.workers.get(oldest ? groupOf(oldest) : integrationId);
  }

  /** Moves integrations towards the number of lanes that they should have. */
  async tendLanes(): Promise<void> {
    const book = this.#lanes;
    if (!book?.loaded) return;
    const ids = new Set(book.split);
    for (const id of this.#severalDeliverers()) ids.add(id);
    if (ids.size === 0) return;
    for (const id of ids) {
      await book.refresh(id);
      const compiled = this.#snapshot.integrations.get(id);
      const wanted = compiled && wantedLanes(compiled);
      const { count, inForce } = book.newest(id);
      if (wanted !== undefined && wanted !== count && inForce && this.#owns(onlyLane(id))) await book.changeCount(id, wanted);
    }
    this.reconcile();
    for (const id of book.split) await this.#resumeEnding(id, book);
    for (const worker of [...this.workers.values()]) if (worker.lane.to !== undefined) await this.#endLane(worker, book);
  }
  /** Looked up once per snapshot: among thousands of integrations a few have several deliverers. */
  #severalDeliverers(): readonly string[] {
    if (this.#several?.of !== this.#snapshot) {
      const ids: string[] = [];
      for (const [id, { integration }] of this.#snapshot.integrations) if (integration.max_deliverers > 1) ids.push(id);
      this.#several = { of: this.#snapshot, ids };
    }
    return this.#several.ids;
  }
  /** Continues with lanes whose process ended before their last retries did. */
  async #resumeEnding(integrationId: string, book: LaneBook): Promise<void> {
    const present = () => this.#snapshot.integrations.get(integrationId);
    const isEnding = (lane: Lane) => book.hasPassed(lane) && this.#owns(lane) && !this.workers.has(groupOf(lane));
    for (const lane of book.lanesOf(integrationId).filter(isEnding)) {
      const pipelineId = present()?.integration.pipeline_id;
      if (pipelineId === undefined) return;
      const groups = await this.#deps.log.groups(eventsTopic(pipelineId));
      // It may have been deleted meanwhile.
      const compiled = present();
      if (compiled === undefined) return;
      if (!groups.includes(groupOf(lane))) await book.note(lane, 'finished');
      else if (isEnding(lane) && !this.#leaving.has(groupOf(lane)) && this.#stopping === undefined) this.#start(compiled, lane);
    }
  }
  async #endLane(worker: Worker, book: LaneBook): Promise<void> {
    const { lane, group } = worker;
    if (!book.hasPassed(lane)) {
      if (worker.hasPassed()) await book.note(lane, 'passed');
      return this.reconcile();
    }
    await worker.settleMarks();
    if (!(await worker.isFinished()) || this.workers.get(group) !== worker) return;
    this.#forget(worker);
    const left = worker.stop(this.#graceMs);
    this.#leaving.set(group, left);
    try {
      await left;
      await worker.forgetLane();
      await book.note(lane, 'finished');
    } finally {
      this.#leaving.delete(group);
    }
  }

  /** Stops the workers of integrations that now belong to another process. Resolves when none of their requests is in flight. */
  async release(): Promise<void> {
    if (this.#stopping) return this.#stopping;
    for (const [group, worker] of [...this.workers, ...this.#retiring]) {
      if (this.#owns(worker.lane)) continue;
      this.#forget(worker);
      const left = worker.stop(this.#graceMs).finally(() => {
        this.#leaving.delete(group);
        this.reconcile();
      });
      this.#leaving.set(group, left);
    }
    await Promise.allSettled(this.#leaving.values());
  }

  /**
   * Finds groups whose integration was deleted while no process delivered. A group is retired when it is seen a second time,
   * because the snapshot may be slightly older than the log.
   */
  async findOrphans(): Promise<void> {
    const seen = new Set<string>();
    for (const topic of await this.#deps.log.topics('events.')) {
      const pipelineId = topic.slice(eventsTopic('').length);
      for (const group of await this.#deps.log.groups(topic)) {
        const lane = laneOfGroup(group);
        const { integrationId } = lane;
        if (!group.startsWith(ORPHAN_PREFIX) || this.#snapshot.integrations.has(integrationId) || this.#retiring.has(group)) continue;
        if (this.#stopping !== undefined || !this.#owns(lane)) continue;
        seen.add(group);
        if (this.#orphans.has(group)) this.#retire(this.#start(deletedIntegration(integrationId, pipelineId), lane));
      }
    }
    this.#orphans = seen;
  }

  stop(graceMs: number): Promise<void> {
    clearTimeout(this.#retirement);
    clearTimeout(this.#retry);
    const all = [...this.workers.values(), ...this.#retiring.values()].map((worker) => worker.stop(graceMs));
    this.#stopping = Promise.allSettled([...all, ...this.#leaving.values()]).then(() => undefined);
    return this.#stopping;
  }

  #start(compiled: CompiledIntegration, lane: Lane): Worker {
    const { pipeline_id } = compiled.integration;
    const shared = {
      cache: this.#cache,
      hasLanes: this.#lanes !== undefined,
      byteBudget: () => Math.min(MAX_SHARE, HELD_BYTES / Math.max(1, this.workers.size)),
      othersOfPipeline: () => (this.#perPipeline.get(pipeline_id) ?? 1) - 1,
    };
    const worker = new Worker(this.#deps, compiled, shared, lane);
    this.#perPipeline.set(pipeline_id, (this.#perPipeline.get(pipeline_id) ?? 0) + 1);
    this.workers.set(worker.group, worker);
    this.#notStarted.delete(worker.group);
    return worker;
  }
  #forget(worker: Worker): void {
    this.#retiring.delete(worker.group);
    if (this.workers.delete(worker.group)) this.#perPipeline.set(worker.pipelineId, (this.#perPipeline.get(worker.pipelineId) ?? 1) - 1);
  }
  #retire(worker: Worker): void {
    this.#forget(worker);
    worker.retire(this.#snapshot.pipelines.has(worker.pipelineId) ? 'integration_deleted' : 'pipeline_deleted');
    // The first lanes of all generations belong to one process: one of them drops the replays.
    if (worker.lane.index === 0 && !this.#retiring.values().some(({ id }) => id === worker.id)) worker.replay();
    this.#retiring.set(worker.group, worker);
    this.#scheduleRetirement();
  }
  #scheduleRetirement(): void {
    if (this.#retirement || this.#stopping !== undefined) return;
    this.#retirement = setTimeout(() => {
      this.#retirement = undefined;
      void this.#endRetired();
    }, RETIRE_ROUND_MS);
  }
  /** A deleted integration's worker lives until every waiting event is dropped with its reason. */
  async #endRetired(): Promise<void> {
    for (const [group, worker] of this.#retiring) {
      const { id } = worker;
      try {
        await worker.settleMarks();
        if (!worker.idle || (await worker.waiting()).waiting > 0 || !worker.idle || this.#stopping !== undefined) continue;
        await worker.stop(this.#graceMs);
        await worker.forget();
        if (!this.#snapshot.integrations.has(id)) await this.#lanes?.remove(id);
        this.#deps.attempts.forget(id);
        this.#retiring.delete(group);
        // The integration may exist again.
        this.reconcile();
      } catch (error) {
        this.#deps.logger.warn({ err: error, integration_id: id }, 'deleted integration not removed from the log yet, retrying');
      }
    }
    if (this.#retiring.size > 0) this.#scheduleRetirement();
  }
}

/** Stands in for a deleted integration, so that a worker can drop its events. */
function deletedIntegration(id: string, pipeline_id: string): CompiledIntegration {
  const integration: Integration = {
    ...resource.defaults,
    id,
    org_id: '',
    pipeline_id,
    template_id: '',
    revision_number: 0,
    name: '',
    vendor: '',
    delivery_mode: 'server_side',
    enabled: false,
    created_at: new Date(0).toISOString(),
    updated_at: new Date(0).toISOString(),
  };
  return { integration, config: {}, secrets: [], vendor: undefined, faults: [], warnings: [] };
}
