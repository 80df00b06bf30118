/**
 * Those who have something to do take turns, one in each turn of the event loop: requests that came meanwhile are read in between.
 * All of them at once would keep every request waiting for thousands of events.
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
