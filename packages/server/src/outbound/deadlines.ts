import { Slots, type Slotted } from '../runtime/slots.ts';

/** Whatever has to end by a time. */
export interface Timed extends Slotted {
  /** On the monotonic clock. */
  readonly deadline: number;
  timeOut(): void;
}

const ROUND_MS = 25;

/**
 * One interval for the time limits of all requests under way: a timer of its own for each would cost more than all that
 * is checked here. Nothing ends early, nothing more than a round late.
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
      // Not stopped at the first quiet round: under light load it would be set up for every single request.
      if (++this.#quietRounds > 40) this.stop();
      return;
    }
    this.#quietRounds = 0;
    const now = this.#now();
    for (const timed of this.#open.all()) if (now >= timed.deadline) timed.timeOut();
  }
}
