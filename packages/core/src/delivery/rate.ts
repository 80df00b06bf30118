/** Pacing of one integration's requests. Waits use the monotonic clock, days the wall clock. */
export interface Rate {
  /** Requests per second; 0 is unlimited. */
  rps: number;
  burst: number;
  /** Requests per UTC day; 0 is unlimited. */
  daily: number;
}
export interface RateOverrides {
  rate_limit_rps: number | null;
  rate_limit_burst: number | null;
  rate_limit_daily: number | null;
}

/** The rate from a vendor's definition and config. `burst_chosen` is set if the config specifies the burst. */
export interface VendorRate extends Rate {
  burst_chosen?: boolean;
}

/**
 * The integration's record overrides the vendor's config field by field. If only the rate is overridden, a default burst scales with
 * it.
 */
export function effectiveRate(record: RateOverrides, vendor: VendorRate): Rate {
  const rps = record.rate_limit_rps ?? vendor.rps;
  const burst = vendor.burst_chosen || record.rate_limit_rps === null ? vendor.burst : rps * 2;
  return {
    rps,
    burst: Math.max(1, record.rate_limit_burst ?? burst),
    daily: record.rate_limit_daily ?? vendor.daily,
  };
}

/**
 * A token bucket stored as one number (GCRA): the time at which the bucket is full again. `take` returns the milliseconds to wait; 0
 * means that a token was taken.
 */
export class Pacer {
  #fullAt = Number.NEGATIVE_INFINITY;

  take(rate: Rate, now: number): number {
    if (!(rate.rps > 0)) return 0;
    const interval = 1000 / rate.rps;
    const fullAt = Math.max(this.#fullAt, now);
    const wait = fullAt - (rate.burst - 1) * interval - now;
    // Tolerates floating-point drift. Without this, an exactly paced caller would sometimes wait once too often.
    if (wait > 1e-6) return wait;
    this.#fullAt = fullAt + interval;
    return 0;
  }
}

const DAY_MS = 86_400_000;

export function utcDay(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** Counts requests per UTC day against the daily cap. */
export class DailyCount {
  #day: number;
  #used: number;

  constructor(start: { day: number; used: number } = { day: 0, used: 0 }) {
    this.#day = start.day;
    this.#used = start.used;
  }

  /** Returns 0 and counts the request, or returns the milliseconds until the next UTC day if the cap is reached. */
  take(daily: number, now: number): number {
    const day = utcDay(now);
    if (day !== this.#day) {
      this.#day = day;
      this.#used = 0;
    }
    if (daily > 0 && this.#used >= daily) return (day + 1) * DAY_MS - now;
    this.#used++;
    return 0;
  }

  get state(): { day: number; used: number } {
    return { day: this.#day, used: this.#used };
  }
}
