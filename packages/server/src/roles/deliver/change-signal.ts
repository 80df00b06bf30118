/** Wakes code that waits for the worker's state to change. Waiters check their condition again. */
export class ChangeSignal {
  #waiters: (() => void)[] = [];

  notify(): void {
    if (this.#waiters.length === 0) return;
    for (const wake of this.#waiters.splice(0)) wake();
  }
  /** Resolves at the next `notify`, or after `withinMs`. */
  changed(withinMs?: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
      if (withinMs !== undefined) setTimeout(resolve, Math.max(0, withinMs)).unref();
    });
  }
}
