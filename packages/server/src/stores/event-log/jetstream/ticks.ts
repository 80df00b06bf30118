/** A tick that stores this many records is busy. */
const BUSY_RECORDS = 50;

/**
 * Runs what several groups have to store at the same moment. Messages that reach a stream together share a round of replication and most of
 * its cost.
 */
export class Ticks {
  readonly #everyMs: number;
  readonly #busyMs: number;
  #waiting: (() => number)[] = [];
  #isBusy = false;

  /** `busyMs`: how long the tick after a busy one waits. */
  constructor(everyMs: number, busyMs = everyMs) {
    this.#everyMs = everyMs;
    this.#busyMs = busyMs;
  }

  /** Calls `run` after `busyMs` at most. It returns how many records it stores. */
  next(run: () => number): void {
    this.#waiting.push(run);
    if (this.#waiting.length > 1) return;
    setTimeout(() => this.#tick(), this.#isBusy ? this.#busyMs : this.#everyMs).unref();
  }

  #tick(): void {
    const due = this.#waiting;
    this.#waiting = [];
    let records = 0;
    for (const run of due) records += run();
    this.#isBusy = records >= BUSY_RECORDS;
  }
}
