import type { Clock } from '../../../runtime/clock.ts';

/**
 * Two clocks that survive a jump of the wall clock. `steady` is for waits that outlive the process (retries, the deduplication window):
 * wall time when the log was opened, never before the latest time an earlier process wrote, and monotonic from then on. `stamp` is for
 * records: it follows the wall clock at between half and twice its speed, so that a jump neither reorders records nor skips a day in a
 * moment.
 */
export class SteadyTime {
  readonly #clock: Clock;
  readonly #steadyOffset: number;
  #stamp: number;
  #stampedAt: number;

  constructor(clock: Clock, lastKnown: number) {
    this.#clock = clock;
    const monotonic = clock.monotonic();
    this.#steadyOffset = Math.max(clock.now(), lastKnown) - monotonic;
    this.#stamp = clock.now();
    this.#stampedAt = monotonic;
  }

  steady(): number {
    return Math.floor(this.#steadyOffset + this.#clock.monotonic());
  }

  stamp(): number {
    const monotonic = this.#clock.monotonic();
    const elapsed = Math.max(0, monotonic - this.#stampedAt);
    const least = this.#stamp + elapsed / 2;
    const most = this.#stamp + elapsed * 2;
    this.#stamp = Math.min(most, Math.max(least, this.#clock.now()));
    this.#stampedAt = monotonic;
    return Math.floor(this.#stamp);
  }
}
