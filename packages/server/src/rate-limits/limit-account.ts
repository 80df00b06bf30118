/** The budget of one key. Exactly one process keeps it; `shared-limits.ts` lends it to the others. */
export type Limit =
  /** A token bucket. */
  | { kind: 'rate'; per_second: number; burst: number }
  /** A counted window that starts with its first request. */
  | { kind: 'window'; most: number; window_ms: number };

/** Arithmetic on fractions of milliseconds is not exact; an error of 0.0001 tokens is acceptable. */
const SLACK = 1e-4;

export class LimitAccount {
  /** Rate: when the bucket is full again. Window: when it ends. Monotonic milliseconds. */
  #at: number;
  #used = 0;

  /** `continues`: for a key whose budget another process kept until now. The bucket has a tenth of its burst, so that nobody is rejected at once. */
  constructor(limit: Limit, now: number, continues = false) {
    const spent = continues && limit.kind === 'rate' ? limit.burst - Math.max(1, limit.burst / 10) : 0;
    this.#at = spent > 0 && limit.kind === 'rate' ? now + (1_000 / limit.per_second) * spent : Number.NEGATIVE_INFINITY;
  }

  /** Whole tokens that can be spent now. Negative while the account is in debt. */
  available(limit: Limit, now: number): number {
    if (limit.kind === 'window') return limit.most - (this.#at <= now ? 0 : this.#used);
    const missing = (Math.max(this.#at, now) - now) / (1_000 / limit.per_second);
    return Math.floor(limit.burst - missing + SLACK);
  }
  /** Milliseconds until one token can be spent; 0 if it can be now. */
  wait(limit: Limit, now: number): number {
    if (this.available(limit, now) >= 1) return 0;
    if (limit.kind === 'window') return this.#at - now;
    return this.#at - now - (limit.burst - 1) * (1_000 / limit.per_second);
  }
  /** Spends tokens, into debt if need be. A negative number gives unused tokens back. */
  charge(limit: Limit, now: number, tokens: number): void {
    if (limit.kind === 'rate') this.#at = Math.max(this.#at, now) + (1_000 / limit.per_second) * tokens;
    else {
      if (this.#at <= now) {
        if (tokens <= 0) return;
        this.#at = now + limit.window_ms;
        this.#used = 0;
      }
      this.#used = Math.max(0, this.#used + tokens);
    }
  }
  /** The state is that of a new account: nothing is lost by forgetting it. */
  isIdle(now: number): boolean {
    return this.#at <= now;
  }
}
