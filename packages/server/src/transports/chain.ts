/** Walks one event through a vendor's chain of requests (core/vendor/chain.ts). */
import { Lru } from '@firsthand/core/context/lru.ts';
import { CHAIN_START, type ChainProgress, type NextStep } from '@firsthand/core/vendor/chain.ts';
import type { CompiledVendor, VendorItem } from '@firsthand/core/vendor/compiled.ts';
import { errorText } from '../runtime/error-text.ts';
import { attemptCall, type OutboundCall } from './http.ts';
import type { HttpDeps, Sent } from './port.ts';

export interface ChainPlan {
  vendor: CompiledVendor;
  item: VendorItem;
  attempt: number;
  /** Where the last attempt stopped. */
  progress: ChainProgress | undefined;
}
type Kept = Record<string, ChainProgress['steps'][string][string]>;

/** Remembered results per integration and revision. */
const MAX_REMEMBERED = 10_000;

export class Chains {
  readonly #deps: HttpDeps;
  /** By compiled vendor: a new revision starts anew, and no organisation sees another's ids. */
  readonly #memories = new WeakMap<CompiledVendor, Lru<string, { kept: Kept; until: number }>>();

  constructor(deps: HttpDeps) {
    this.#deps = deps;
  }

  /** The verdict of the first step that fails, else of the last one. The result of a failed attempt carries the finished steps. */
  async send({ vendor, item, attempt, progress = CHAIN_START }: ChainPlan, request_id: string): Promise<Sent> {
    const { clock } = this.#deps;
    const at = clock.now();
    const began = clock.monotonic();
    let state = progress;
    let last: Sent = { verdict: { kind: 'delivered' }, status: null, at, duration_ms: 0 };
    for (;;) {
      let step: NextStep | undefined;
      try {
        step = vendor.chain?.next(item, state);
      } catch (error) {
        return { ...last, verdict: { kind: 'refused', reason: `the request cannot be built: ${errorText(error)}` }, progress: state };
      }
      if (step === undefined) return { ...last, at, duration_ms: Math.round(clock.monotonic() - began) };
      const remembered = this.#recall(vendor, step);
      let kept: Kept = remembered ?? {};
      if (remembered === undefined) {
        const { token, request, read } = step;
        const context = { attempt, request_id };
        let found: Kept = {};
        const readAndKeep: OutboundCall['read'] = (reply, options) => {
          const result = read(reply, options);
          found = result.kept;
          return result.verdict;
        };
        last = await attemptCall({ token, timeout_ms: vendor.timeout_ms, context, request, read: readAndKeep }, this.#deps);
        if (last.verdict.kind !== 'delivered')
          return { ...last, verdict: named(last.verdict, step), at, duration_ms: Math.round(clock.monotonic() - began), progress: state };
        kept = found;
        this.#remember(vendor, step, kept);
      }
      state = { at: step.index + 1, steps: { ...state.steps, [step.name]: kept } };
    }
  }

  #recall(vendor: CompiledVendor, { memory }: NextStep): Kept | undefined {
    const known = memory && this.#memories.get(vendor)?.get(memory.key);
    return known && known.until > this.#deps.clock.monotonic() ? known.kept : undefined;
  }
  /** "Not found" is not remembered: the next step is about to create it. */
  #remember(vendor: CompiledVendor, { memory, once }: NextStep, kept: Kept): void {
    if (memory === undefined || (!once && Object.keys(kept).length === 0)) return;
    let memories = this.#memories.get(vendor);
    if (!memories) this.#memories.set(vendor, (memories = new Lru(MAX_REMEMBERED)));
    memories.set(memory.key, { kept, until: this.#deps.clock.monotonic() + memory.for_ms });
  }
}

/** The step in front of the reason, so that a dead letter says which request failed. */
function named(verdict: Sent['verdict'], { name }: NextStep): Sent['verdict'] {
  return 'reason' in verdict ? { ...verdict, reason: `${name}: ${verdict.reason}` } : verdict;
}
