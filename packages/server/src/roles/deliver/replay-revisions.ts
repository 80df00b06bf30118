import type { WorkerDeps } from './deps.ts';
import { type Plan, planOf } from './plan.ts';

const RETRY_MS = 1_000;
const MAX_KEPT = 4;

/** Revisions other than the pinned one, compiled when a replay asks for one. */
export class ReplayRevisions {
  readonly #deps: Pick<WorkerDeps, 'compileRevision' | 'logger'>;
  readonly #known = new Map<number, Plan>();

  constructor(deps: Pick<WorkerDeps, 'compileRevision' | 'logger'>) {
    this.#deps = deps;
  }

  clear(): void {
    this.#known.clear();
  }

  /** Retries while the database is unavailable. Only this integration's replay waits for it. */
  async get(revision: number, pinned: Plan, stopped: () => boolean): Promise<Plan> {
    const { integration } = pinned.compiled;
    const { compileRevision, logger } = this.#deps;
    if (revision === integration.revision_number || !compileRevision) return pinned;
    const known = this.#known.get(revision);
    if (known) return known;
    for (let complained = false; !stopped(); complained = true) {
      try {
        const found = await compileRevision(integration, revision);
        const faults = [{ field: 'revision_number', message: 'there is no such revision' }];
        const compiled = found ?? { integration, config: {}, secrets: [], vendor: undefined, faults, warnings: [] };
        const plan = planOf({ ...compiled, integration: { ...integration, revision_number: revision } });
        if (this.#known.size >= MAX_KEPT) this.#known.clear();
        this.#known.set(revision, plan);
        return plan;
      } catch (error) {
        if (!complained) logger.warn({ err: error, integration_id: integration.id }, 'revision for a replay not readable, retrying');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return pinned;
  }
}
