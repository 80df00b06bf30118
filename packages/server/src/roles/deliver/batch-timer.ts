/** One timer for the batch that is due first. */
export class BatchTimer {
  readonly #monotonic: () => number;
  readonly #fire: () => void;
  #timer: NodeJS.Timeout | undefined;
  #due = Number.POSITIVE_INFINITY;

  constructor(monotonic: () => number, fire: () => void) {
    this.#monotonic = monotonic;
    this.#fire = fire;
  }

  /** Does nothing if the timer is set to an earlier time. */
  arm(due: number): void {
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(
      () => {
        this.#due = Number.POSITIVE_INFINITY;
        this.#fire();
      },
      Math.max(0, Math.ceil(due - this.#monotonic())),
    );
  }
  stop(): void {
    clearTimeout(this.#timer);
  }
}
