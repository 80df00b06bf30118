import { Slots, type Slotted } from '../runtime/slots.ts';
import { WorkInterval } from '../runtime/work-interval.ts';

export interface Timed extends Slotted {
  /** Milliseconds on the monotonic clock. */
  readonly deadline: number;
  timeOut(): void;
}

const ROUND_MS = 25;
/** Goes on for a second without requests; otherwise a light load would start it again for every request. */
const QUIET_ROUNDS = 40;

/**
 * Checks the deadlines of all in-flight requests with one interval, which is cheaper than a timer each. Fires at most 25 ms late, never
 * early.
 */
export class Deadlines {
  readonly #now: () => number;
  readonly #open = new Slots<Timed>();
  readonly #rounds = new WorkInterval(ROUND_MS, () => this.#check());
  #quietRounds = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(timed: Timed): void {
    this.#open.add(timed);
    this.#rounds.wake();
  }
  remove(timed: Timed): void {
    this.#open.remove(timed);
  }
  stop(): void {
    this.#rounds.stop();
  }

  /** Whether another round may find a request. */
  #check(): boolean {
    if (this.#open.size === 0) return ++this.#quietRounds <= QUIET_ROUNDS;
    this.#quietRounds = 0;
    const now = this.#now();
    for (const timed of this.#open.all()) if (now >= timed.deadline) timed.timeOut();
    return true;
  }
}
