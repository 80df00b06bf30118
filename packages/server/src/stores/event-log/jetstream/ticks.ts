/**
 * Runs what several groups have to store at the same moment. Messages that reach a stream together share a round of replication and most of
 * its cost.
 */
export class Ticks {
  readonly #everyMs: number;
  #waiting: (() => void)[] = [];

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Calls `run` after `everyMs` at most. */
  next(run: () => void): void {
    this.#waiting.push(run);
    if (this.#waiting.length > 1) return;
    setTimeout(() => {
      const due = this.#waiting;
      this.#waiting = [];
      for (const each of due) each();
    }, this.#everyMs).unref();
  }
}
