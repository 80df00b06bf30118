/** A tick that stores this many records is busy. */
const BUSY_RECORDS = 50;
/** All groups at once are a burst of replicated messages, and appends of events wait behind it. */
const PARTS = 4;

/**
 * Runs what several groups have to store together: messages that reach a stream together share a round of replication and most of its cost.
 * Many groups are divided over the time until the next tick.
 */
export class Ticks {
  readonly #everyMs: number;
  readonly #busyMs: number;
  #waiting: (() => number)[] = [];
  /** Stored since the last tick began. */
  #records = 0;
  #isBusy = false;

  /** `busyMs`: how long ticks are apart while each stores many records. */
  constructor(everyMs: number, busyMs = everyMs) {
    this.#everyMs = everyMs;
    this.#busyMs = busyMs;
  }

  /** Calls `run` after twice `busyMs` at most. It returns how many records it stores. */
  next(run: () => number): void {
    this.#waiting.push(run);
    if (this.#waiting.length > 1) return;
    const waitMs = this.#isBusy ? this.#busyMs : this.#everyMs;
    setTimeout(() => this.#tick(waitMs), waitMs).unref();
  }

  #tick(lastedMs: number): void {
    const due = this.#waiting;
    this.#waiting = [];
    this.#isBusy = this.#records >= BUSY_RECORDS;
    this.#records = 0;
    const size = Math.ceil(due.length / PARTS);
    for (let from = 0, afterMs = 0; from < due.length; from += size, afterMs += lastedMs / PARTS) {
      const part = due.slice(from, from + size);
      if (afterMs === 0) this.#run(part);
      else setTimeout(() => this.#run(part), afterMs).unref();
    }
  }
  #run(part: readonly (() => number)[]): void {
    for (const run of part) this.#records += run();
  }
}
