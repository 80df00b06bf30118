import { Slots, type Slotted } from '../runtime/slots.ts';

export interface Timed extends Slotted {
  /** Milliseconds on the monotonic clock. */
  readonly deadline: number;
  timeOut(): void;
}

const ROUND_MS = 25;

/**
 * Checks the deadlines of all in-flight requests with one interval, which is cheaper than a timer each. Fires at most 25 ms late, never
 * early.
 */
export class Deadlines {
  readonly #now: () => number;
  readonly #open = new Slots<Timed>();
  #interval: NodeJS.Timeout | undefined;
  #quietRounds = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(timed: Timed): void {
    this.#open.add(timed);
    this.#interval ??= setInterval(() => this.#check(), ROUND_MS);
  }
  remove(timed: Timed): void {
    this.#open.remove(timed);
  }
  stop(): void {
    clearInterval(this.#interval);
    this.#interval = undefined;
  }

  #check(): void {
    if (this.#open.size === 0) {
      // Stop only after a second without requests; otherwise light load would restart it for every request.
      if (++this.#quietRounds > 40) this.stop();
      return;
    }
    this.#quietRounds = 0;
    const now = this.#now();
    for (const timed of this.#open.all()) if (now >= timed.deadline) timed.timeOut();
  }
}
