/**
 * Knows whether the log can store. A broker without a quorum still answers pings and questions, so only a write proves it: while
 * nothing else is written, a small message to a stream of its own, which keeps just the last one.
 */
export interface CanaryDeps {
  /** Stores one message. Rejects where the log cannot store. */
  write(): Promise<unknown>;
  monotonic(): number;
}

const EVERY_MS = 2_000;

export class Canary {
  readonly #deps: CanaryDeps;
  readonly #timer: NodeJS.Timeout;
  #storing = true;
  #provedAt = Number.NEGATIVE_INFINITY;
  #writing = false;

  constructor(deps: CanaryDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.check(), EVERY_MS).unref();
  }

  get storing(): boolean {
    return this.#storing;
  }

  /** Another write succeeded or failed. Where it failed, the canary finds out at once whether this was an exception. */
  heard(stored: boolean): void {
    this.#storing = stored;
    if (stored) this.#provedAt = this.#deps.monotonic();
    else void this.check();
  }

  /** The connection was lost: the next server may be one without a quorum. Only a write proves the opposite. */
  doubt(): void {
    this.#storing = false;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Writes one now, unless the last proof is fresh. */
  async check(): Promise<void> {
    if (this.#writing || (this.#storing && this.#deps.monotonic() - this.#provedAt < EVERY_MS)) return;
    this.#writing = true;
    try {
      await this.#deps.write();
      this.#storing = true;
      this.#provedAt = this.#deps.monotonic();
    } catch {
      this.#storing = false; // what `available` reports; the next turn tries again
    }
    this.#writing = false;
  }
}
