/**
 * Runs waiting consumers one after the other for two milliseconds per event loop turn, so that incoming requests are read in between.
 * Running all consumers at once would delay every request by thousands of events; running one per turn would delay each consumer by a
 * turn for every other one.
 */
const SLICE_MS = 2;

export class FairScheduler {
  #waiting: (() => void)[] = [];
  #scheduled = false;
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  take(run: () => void): void {
    this.#waiting.push(run);
    if (!this.#scheduled) this.#schedule();
  }
  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      // Consumers that begin to wait meanwhile run in a later turn.
      let left = this.#waiting.length;
      const end = this.#now() + SLICE_MS;
      do {
        this.#waiting.shift()?.();
        left -= 1;
      } while (left > 0 && this.#now() < end);
      this.#scheduled = this.#waiting.length > 0;
      if (this.#scheduled) this.#schedule();
    });
  }
}
