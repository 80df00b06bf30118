/**
 * Tells a deleted pipeline from one that this process has not loaded yet. Ingest on another process may know a new pipeline
 * earlier, so its first events wait for the next snapshot. A pipeline that was in a snapshot and is not any more was deleted.
 */
import type { CompiledOrganisation } from '@firsthand/core/process/compiled.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { CompiledPipeline, Snapshot, SnapshotSource } from '../../snapshot/types.ts';

export interface Found {
  pipeline: CompiledPipeline;
  organisation: CompiledOrganisation;
}
const LEAST_GRACE_MS = 5_000;
const MAX_GONE = 10_000;

export class KnownPipelines {
  readonly #snapshots: SnapshotSource;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #graceMs: number;
  readonly #gone = new Set<string>();
  readonly #unsubscribe: () => void;
  #last: Snapshot;

  constructor(snapshots: SnapshotSource, clock: Pick<Clock, 'now'>, configReloadMs: number) {
    this.#snapshots = snapshots;
    this.#clock = clock;
    this.#graceMs = Math.max(LEAST_GRACE_MS, configReloadMs * 3);
    this.#last = snapshots.current();
    this.#unsubscribe = snapshots.onChange((snapshot) => this.#compare(snapshot));
  }

  find({
    org_id,
    pipeline_id,
    received_at,
  }: {
    org_id: string;
    pipeline_id: string;
    received_at: number;
  }): Found | 'deleted' | 'unknown yet' {
    const { pipelines, organisations } = this.#snapshots.current();
    const pipeline = pipelines.get(pipeline_id);
    const organisation = organisations.get(org_id);
    if (pipeline !== undefined && organisation !== undefined) return { pipeline, organisation };
    if (this.#gone.has(pipeline_id)) return 'deleted';
    return Math.abs(this.#clock.now() - received_at) < this.#graceMs ? 'unknown yet' : 'deleted';
  }

  stop(): void {
    this.#unsubscribe();
  }

  #compare(snapshot: Snapshot): void {
    for (const id of this.#last.pipelines.keys()) {
      if (snapshot.pipelines.has(id)) continue;
      if (this.#gone.size >= MAX_GONE) this.#gone.delete(this.#gone.keys().next().value as string);
      this.#gone.add(id);
    }
    for (const id of this.#gone) if (snapshot.pipelines.has(id)) this.#gone.delete(id);
    this.#last = snapshot;
  }
}
