/** An interval that runs only while there is work: in an idle process the wake-up would cost more than the check. */
export class WorkInterval {
  readonly #everyMs: number;
  readonly #round: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `round` returns whether another one may find work. */
  constructor(everyMs: number, round: () => boolean) {
    this.#everyMs = everyMs;
    this.#round = round;
  }

  /** Call when there is work. The first round comes one interval later. */
  wake(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = setInterval(() => {
      if (this.#round()) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    }, this.#everyMs).unref();
  }
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }
}
