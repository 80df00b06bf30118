/** Pacing of one integration's requests. Waits are on the monotonic clock, days on the wall clock. */
export interface Rate {
  /** Requests a second; 0 is unlimited. */
  rps: number;
  burst: number;
  /** Requests a UTC day; 0 is unlimited. */
  daily: number;
}
export interface RateOverrides {
  rate_limit_rps: number | null;
  rate_limit_burst: number | null;
  rate_limit_daily: number | null;
}

/** What a vendor's definition and config say; `burst_chosen` where the config itself names the burst. */
export interface VendorRate extends Rate {
  burst_chosen?: boolean;
}

/** The integration's record wins over the vendor's config, field by field; a burst nobody chose follows a rate that somebody did. */
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
 * A token bucket told by one number (GCRA): the moment at which the bucket is full again.
 * Returns how long to wait; 0 took a token.
 */
export class Pacer {
  #fullAt = Number.NEGATIVE_INFINITY;

  take(rate: Rate, now: number): number {
    if (!(rate.rps > 0)) return 0;
    const interval = 1000 / rate.rps;
    const fullAt = Math.max(this.#fullAt, now);
    const wait = fullAt - (rate.burst - 1) * interval - now;
    // Sums of fractions drift by less than this; without it an exactly paced caller waits once too often.
    if (wait > 1e-6) return wait;
    this.#fullAt = fullAt + interval;
    return 0;
  }
}

const DAY_MS = 86_400_000;

export function utcDay(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** Counts requests of a UTC day against the daily cap. */
export class DailyCount {
  #day: number;
  #used: number;

  constructor(start: { day: number; used: number } = { day: 0, used: 0 }) {
    this.#day = start.day;
    this.#used = start.used;
  }

  /** Milliseconds to the next UTC day where the cap is reached, else 0 and one request is counted. */
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
