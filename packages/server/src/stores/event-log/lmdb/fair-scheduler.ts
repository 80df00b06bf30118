/**
 * Runs one waiting consumer per event loop turn, so that incoming requests are read in between. Running all consumers at once would delay
 * every request by thousands of events.
 */
export class FairScheduler {
  #waiting: (() => void)[] = [];
  #scheduled = false;

  take(run: () => void): void {
    this.#waiting.push(run);
    if (!this.#scheduled) this.#schedule();
  }
  #schedule(): void {
    this.#scheduled = true;
    setImmediate(() => {
      const run = this.#waiting.shift()!;
      this.#scheduled = this.#waiting.length > 0;
      if (this.#scheduled) this.#schedule();
      run();
    });
  }
}
