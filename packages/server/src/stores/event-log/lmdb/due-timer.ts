import type { Group } from './group.ts';

const LONGEST_MS = 60_000;

/** One timer for all waiting retries. Wakes a group when its next retry is due. */
export class DueTimer {
  readonly #steady: () => number;
  readonly #due = new Map<Group, number>();
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(steady: () => number) {
    this.#steady = steady;
  }

  set(group: Group, due: number): void {
    const known = this.#due.get(group);
    if (known === undefined || due < known) this.#due.set(group, due);
    if (due < this.#at) this.#arm(due);
  }

  #arm(due: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#at = due;
    // Timers use the monotonic clock. The bound keeps distant due times within the range of `setTimeout`.
    this.#timer = setTimeout(() => this.#fire(), Math.min(LONGEST_MS, Math.max(1, due - this.#steady())));
  }

  #fire(): void {
    const now = this.#steady();
    this.#at = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const [group, due] of this.#due) {
      if (due <= now) {
        this.#due.delete(group);
        group.wake();
      } else if (due < next) next = due;
    }
    if (next < this.#at) this.#arm(next);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
