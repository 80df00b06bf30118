/** The specification's retry table, and the effect of a vendor's Retry-After. */
import { MAX_RETRY_AFTER_MS } from '../vendor/retry-after.ts';

/** The table has five waits, so there are at most six attempts. */
const MAX_RETRIES = 5;
const JITTER = 0.25;

export interface RetryRules {
  /** Retries after the first attempt, 0–5. */
  max_retries: number;
  /** Wait before the first retry, without jitter. Each further wait is four times as long. */
  base_ms: number;
}

/**
 * Returns the wait after failed attempt number `attempt` (1 is the first), or undefined if no retry is left. `random` is in [0, 1).
 * Retry-After can lengthen the wait but never shorten it.
 */
export function retryDelayMs(attempt: number, rules: RetryRules, random: number, retryAfterMs?: number): number | undefined {
  if (attempt > Math.min(rules.max_retries, MAX_RETRIES)) return undefined;
  const table = rules.base_ms * 4 ** (attempt - 1) * (1 + JITTER * random);
  const wished = retryAfterMs === undefined || Number.isNaN(retryAfterMs) ? 0 : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  return Math.ceil(Math.max(table, wished));
}
