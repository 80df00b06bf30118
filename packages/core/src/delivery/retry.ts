/** The specification's retry table, and how a vendor's Retry-After bends it. */

/** Most of a vendor's `Retry-After` that is honoured. */
export const RETRY_AFTER_CAP_MS = 3_600_000;
/** The table has five waits, so six tries in all. */
export const MAX_RETRIES = 5;
const JITTER = 0.25;

export interface RetryRules {
  /** Retries after the first try, 0–5. */
  max_retries: number;
  /** The table's second. */
  base_ms: number;
}

/**
 * The wait after failed try number `attempt` (1 is the first), or undefined where no retry is left. `random` is in [0, 1).
 * A vendor's wish lengthens the wait, never shortens it.
 */
export function retryDelayMs(attempt: number, rules: RetryRules, random: number, retryAfterMs?: number): number | undefined {
  if (attempt > Math.min(rules.max_retries, MAX_RETRIES)) return undefined;
  const table = rules.base_ms * 4 ** (attempt - 1) * (1 + JITTER * random);
  const wished = retryAfterMs === undefined || Number.isNaN(retryAfterMs) ? 0 : Math.min(retryAfterMs, RETRY_AFTER_CAP_MS);
  return Math.ceil(Math.max(table, wished));
}

const SECONDS = /^\s*(\d+)(?:\.\d+)?\s*$/;

/**
 * `Retry-After` as seconds or as an HTTP date; milliseconds from `now`, never negative, capped. What is neither a number
 * nor a date is undefined: the table alone decides then.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const seconds = SECONDS.exec(value);
  if (seconds) return Math.min(Number(seconds[1]) * 1000, RETRY_AFTER_CAP_MS);
  // A bare or signed number would parse as a year: only text that names a weekday or an ISO date is a date.
  const at = /[a-z]{3}|^\d{4}-\d\d-\d\d/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - now), RETRY_AFTER_CAP_MS);
}
