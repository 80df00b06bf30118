/**
 * Decides whether the settlement of a delivered event may wait for others, so that they share one outcome record and one journal entry. Only
 * at a low rate: under load many settlements come in one turn of the event loop anyway. All workers of a process share one pace, because a
 * killed process repeats the deliveries whose settlements wait.
 */
const MAX_WAITING = 4;
/** A settlement that follows another one sooner than this does not wait. */
const QUIET_MS = 2;

export class SettlementPace {
  #waiting = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  /** True: it may wait. Call `written` for it later. */
  mayWait(now: number): boolean {
    const isQuiet = now - this.#lastAt >= QUIET_MS;
    this.#lastAt = now;
    if (!isQuiet || this.#waiting >= MAX_WAITING) return false;
    this.#waiting++;
    return true;
  }
  written(count: number): void {
    this.#waiting -= count;
  }
}
