/** The workers of this process, started, updated and stopped as the snapshot and the owned integrations change. */
import { type Integration, integration as resource } from '@firsthand/core/config/integration.ts';
import { eventsTopic } from '../../event-record.ts';
import type { CompiledIntegration, Snapshot } from '../../snapshot/types.ts';
import type { WorkerDeps } from './deps.ts';
import { RecordCache } from './record-cache.ts';
import { Worker } from './worker.ts';

const CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes of held events over all workers. Each worker has an equal share and never waits for another's. */
const HELD_BYTES = 256 * 1024 * 1024;
const MAX_SHARE = 16 * 1024 * 1024;
const RETIRE_ROUND_MS = 500;
const ORPHAN_PREFIX = 'int_';

export class Fleet {
  readonly workers = new Map<string, Worker>();
  readonly #deps: WorkerDeps;
  readonly #graceMs: number;
  readonly #perPipeline = new Map<string, number>();
  readonly #retiring = new Map<string, Worker>();
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #cache = new RecordCache(CACHE_BYTES);
  #owns: (integrationId: string) => boolean;
  #snapshot: Snapshot;
  #orphans = new Set<string>();
  #retirement: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `owns`: the integrations of this process. Call `reconcile` or `release` after its answers change. */
  constructor(deps: WorkerDeps, snapshot: Snapshot, owns: (integrationId: string) => boolean, graceMs: number) {
    this.#deps = deps;
    this.#snapshot = snapshot;
    this.#owns = owns;
    this.#graceMs = graceMs;
  }

  reconcile(snapshot: Snapshot = this.#snapshot): void {
    this.#snapshot = snapshot;
    if (this.#stopped) return;
    for (const [id, compiled] of snapshot.integrations) {
      const worker = this.workers.get(id);
      if (worker) worker.update(compiled);
      else if (this.#owns(id) && !this.#leaving.has(id) && !this.#retiring.has(id)) this.#start(compiled);
    }
    for (const [id, worker] of this.workers) if (!snapshot.integrations.has(id)) this.#retire(worker);
  }

  /** Stops the workers of integrations that now belong to another process. Resolves when none of their requests is in flight. */
  async release(): Promise<void> {
    if (this.#stopped) return;
    for (const [id, worker] of [...this.workers, ...this.#retiring]) {
      if (this.#owns(id)) continue;
      this.#forget(worker);
      const left = worker.stop(this.#graceMs).finally(() => {
        this.#leaving.delete(id);
        this.reconcile();
      });
      this.#leaving.set(id, left);
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
      for (const id of await this.#deps.log.groups(topic)) {
        if (!id.startsWith(ORPHAN_PREFIX) || this.#snapshot.integrations.has(id) || this.#retiring.has(id)) continue;
        if (this.#stopped || !this.#owns(id)) continue;
        seen.add(id);
        if (this.#orphans.has(id)) this.#retire(this.#start(deletedIntegration(id, pipelineId)));
      }
    }
    this.#orphans = seen;
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retirement);
    const all = [...this.workers.values(), ...this.#retiring.values()].map((worker) => worker.stop(graceMs));
    await Promise.allSettled([...all, ...this.#leaving.values()]);
  }

  #start(compiled: CompiledIntegration): Worker {
    const { id, pipeline_id } = compiled.integration;
    this.#perPipeline.set(pipeline_id, (this.#perPipeline.get(pipeline_id) ?? 0) + 1);
    const worker = new Worker(this.#deps, compiled, {
      cache: this.#cache,
      byteBudget: () => Math.min(MAX_SHARE, HELD_BYTES / Math.max(1, this.workers.size)),
      sharesPipeline: () => (this.#perPipeline.get(pipeline_id) ?? 0) > 1,
    });
    this.workers.set(id, worker);
    return worker;
  }
  #forget(worker: Worker): void {
    this.#retiring.delete(worker.id);
    if (this.workers.delete(worker.id)) this.#perPipeline.set(worker.pipelineId, (this.#perPipeline.get(worker.pipelineId) ?? 1) - 1);
  }
  #retire(worker: Worker): void {
    this.#forget(worker);
    worker.retire(this.#snapshot.pipelines.has(worker.pipelineId) ? 'integration_deleted' : 'pipeline_deleted');
    worker.replay();
    this.#retiring.set(worker.id, worker);
    this.#scheduleRetirement();
  }
  #scheduleRetirement(): void {
    if (this.#retirement || this.#stopped) return;
    this.#retirement = setTimeout(() => {
      this.#retirement = undefined;
      void this.#endRetired();
    }, RETIRE_ROUND_MS);
  }
  /** A deleted integration's worker lives until every waiting event is dropped with its reason. */
  async #endRetired(): Promise<void> {
    for (const [id, worker] of this.#retiring) {
      try {
        if (!worker.idle || (await worker.waiting()).waiting > 0 || !worker.idle || this.#stopped) continue;
        await worker.stop(this.#graceMs);
        await worker.forget();
        this.#deps.attempts.forget(id);
        this.#retiring.delete(id);
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
