import type { Batch } from './batcher.ts';
import { type Lane, laneConcurrency } from './lanes.ts';
import type { Limiter } from './limiter.ts';

export type Next =
  | { kind: 'send'; batch: Batch }
  /** Ask again after this many milliseconds. */
  | { kind: 'wait'; ms: number }
  /** The limiter must load the day's count first. */
  | { kind: 'load_limits' }
  /** Nothing is ready, or too much is in flight: ask again after the next verdict or settlement. */
  | { kind: 'blocked' };

const BLOCKED: Next = { kind: 'blocked' };
/** The list is shortened once so many slots at its front are empty: shortening it for each batch would cost more than the slots. */
const COMPACT_AT = 64;
/** Events of an integration that a killed process may deliver again, unless more requests may be in flight. */
const MOST_REPEATED = 10;

/** Batches that are ready to send, in order. Decides when the next one may go; the pump sends it. */
export class SendQueue {
  readonly #limiter: Limiter;
  /** Slots before the head are emptied, so that sent events do not stay in memory while others wait. */
  #ready: (Batch | undefined)[] = [];
  #head = 0;

  constructor(limiter: Limiter) {
    this.#limiter = limiter;
  }

  push(batch: Batch): void {
    this.#ready.push(batch);
  }
  /** Of the next batch; 0 where there is none. */
  get nextBytes(): number {
    return this.#ready[this.#head]?.bytes ?? 0;
  }
  get empty(): boolean {
    return this.#head === this.#ready.length;
  }

  /** `inFlight`: requests at the vendor. `unstored`: requests with an answer that the log does not have yet. */
  next(inFlight: number, unstored: number, lane: Lane): Next {
    const batch = this.#ready[this.#head];
    if (batch === undefined) return BLOCKED;
    const { concurrency } = batch.vendor;
    if (inFlight >= laneConcurrency(concurrency, lane)) return BLOCKED;
    if (inFlight + unstored >= mostUnstored(concurrency, lane, batch.parts.length)) return BLOCKED;
    if (this.#limiter.mustLoad) return { kind: 'load_limits' };
    const ms = this.#limiter.take();
    if (ms > 0) return { kind: 'wait', ms };
    this.#ready[this.#head++] = undefined;
    if (this.#head >= COMPACT_AT && 2 * this.#head >= this.#ready.length) {
      this.#ready = this.#ready.slice(this.#head);
      this.#head = 0;
    }
    return { kind: 'send', batch };
  }

  /** Removes and returns everything that has not been sent. */
  takeAll(): Batch[] {
    const batches = this.#ready.filter((batch) => batch !== undefined);
    this.#ready = [];
    this.#head = 0;
    return batches;
  }
}

/**
 * The requests of a lane that may be sent and not stored: a crash repeats them. Single events may be a few more than are in flight, so that
 * sending need not wait for every write.
 */
export function mostUnstored(concurrency: number, lane: Lane, events: number): number {
  return laneConcurrency(events > 1 ? concurrency : Math.max(concurrency, MOST_REPEATED), lane);
}
