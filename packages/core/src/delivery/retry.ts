/** The specification's retry table, and how a vendor's Retry-After bends it. */
import { MAX_RETRY_AFTER_MS } from '../vendor/retry-after.ts';

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
  const wished = retryAfterMs === undefined || Number.isNaN(retryAfterMs) ? 0 : Math.min(retryAfterMs, MAX_RETRY_AFTER_MS);
  return Math.ceil(Math.max(table, wished));
}
