import { type Append, type EventLog, RecordTooLarge } from '../../stores/event-log/port.ts';

/** Appends that wait until the log takes them. They are retried under the same ids, so that none is stored twice. */
export class RetriedAppends {
  readonly #log: Pick<EventLog, 'append'>;
  readonly #most: number;
  #unsent: Append[] = [];

  /** While the log is away, the newest `most` wait. */
  constructor(log: Pick<EventLog, 'append'>, most = Number.POSITIVE_INFINITY) {
    this.#log = log;
    this.#most = most;
  }

  get waiting(): number {
    return this.#unsent.length;
  }
  push(append: Append): void {
    this.#unsent.push(append);
  }
  /**
   * Call one at a time. Fails with the error of the log; the next call tries the same appends again, except one that the log can never
   * store: it would hold up all others.
   */
  async write(): Promise<void> {
    if (this.#unsent.length === 0) return;
    const sending = this.#unsent;
    this.#unsent = [];
    try {
      await this.#log.append(sending);
    } catch (error) {
      const again = error instanceof RecordTooLarge ? await this.#writeEach(sending) : sending;
      this.#unsent = [...again, ...this.#unsent].slice(-this.#most);
      throw error;
    }
  }
  /** Returns those to be tried again. */
  async #writeEach(appends: readonly Append[]): Promise<Append[]> {
    const again: Append[] = [];
    for (const append of appends)
      try {
        await this.#log.append([append]);
      } catch (error) {
        if (!(error instanceof RecordTooLarge)) again.push(append);
      }
    return again;
  }
}
