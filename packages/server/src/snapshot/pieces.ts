/**
 * Compiles the pieces of a snapshot (an organisation, a pipeline, an integration …): each within the budgets, and again only if it has
 * changed.
 */
import { addCost, type Cost, NO_COST, organisationExcess, pieceCost } from '@firsthand/core/config/budget.ts';
import { atStep } from '../runtime/stall-watch.ts';
import { turns } from '../runtime/turns.ts';
import type { Report } from './compile-integration.ts';
import { prepareConfiguration } from './prepare.ts';
import type { ConfigurationCosts } from './types.ts';

/** Why a piece of configuration is disabled, or works with a warning. */
export interface SnapshotFault {
  severity: 'error' | 'warning';
  resource: string;
  id: string;
  message: string;
}
interface Cached {
  key: string;
  /** The key and, where the organisation's budget is used up, that it is. */
  madeFor: string;
  cost: Cost;
  /** Why the document alone is too large. */
  excess: string | undefined;
  value: unknown;
  faults: SnapshotFault[];
}
export type CompileCache = Map<string, Cached>;

export class Pieces {
  /** For the next snapshot. */
  readonly cache: CompileCache = new Map();
  readonly faults: SnapshotFault[] = [];
  readonly #before: CompileCache;
  readonly #measured = new Map<unknown, ReturnType<typeof measure>>();
  readonly #overBudget = new Set<string>();
  readonly #costs = new Map<string, Cost>();
  readonly #totals = new Map<string, Cost>();

  /** `before`: the pieces of the last snapshot. */
  constructor(before: CompileCache) {
    this.#before = before;
  }

  get costs(): ConfigurationCosts {
    return { pieces: this.#costs, organisations: this.#totals };
  }
  /** Whether the budget of its organisation was used up when this piece came. */
  isOverBudget(id: string): boolean {
    return this.#overBudget.has(id);
  }

  /**
   * Reuses the piece of the last snapshot or compiles a new one. `source` is checked against the budgets before `make` runs. Of `beside` only
   * the characters count.
   */
  async compile<T>(
    orgId: string,
    id: string,
    key: string,
    source: unknown,
    make: (report: Report, excess: string | undefined) => T | Promise<T>,
    beside?: unknown,
  ): Promise<T> {
    let hit = this.#before.get(id);
    let known: Pick<Cached, 'cost' | 'excess'> | undefined = hit?.key === key ? hit : undefined;
    if (known === undefined) {
      const { cost, excess } = await this.#measureOnce(source);
      // A pipeline without a tracking plan has nothing in its place.
      known = { cost: (source ?? beside) ? pieceCost(cost, beside) : NO_COST, excess };
    }
    const over = this.#spend(orgId, id, known.cost);
    if (over !== undefined) this.#overBudget.add(id);
    const madeFor = over === undefined ? key : `${key}/${over}`;
    if (hit?.madeFor !== madeFor) {
      const found: SnapshotFault[] = [];
      const [resource = id] = id.split('_', 1);
      const report: Report = (severity, message) => found.push({ severity, resource, id, message });
      const turn = turns.bulk();
      if (turn !== undefined) await turn;
      atStep('snapshot', id);
      const { cost, excess } = known;
      hit = { key, madeFor, cost, excess, value: await make(report, excess ?? over), faults: found };
    }
    this.cache.set(id, hit);
    this.faults.push(...hit.faults);
    return hit.value as T;
  }

  /** Measures a document that several integrations share once. */
  #measureOnce(source: unknown): ReturnType<typeof measure> {
    const known = this.#measured.get(source);
    if (known !== undefined) return known;
    const measuring = measure(source);
    this.#measured.set(source, measuring);
    return measuring;
  }

  /** Counts a piece towards its organisation's budget, or returns why it does not fit any more. */
  #spend(orgId: string, pieceId: string, cost: Cost): string | undefined {
    const total = addCost(this.#totals.get(orgId) ?? NO_COST, cost);
    const over = organisationExcess(total);
    if (over !== undefined) return over.message;
    this.#totals.set(orgId, total);
    this.#costs.set(pieceId, cost);
    return undefined;
  }
}

async function measure(source: unknown): Promise<Pick<Cached, 'cost' | 'excess'>> {
  const { cost, excess } = await prepareConfiguration(source);
  return { cost, excess: excess?.message };
}
