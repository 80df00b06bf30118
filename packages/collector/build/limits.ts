/** Limits of the collector, inlined as literals: a named constant would cost bytes on every page. */
export const LIMITS = {
  /** Events and characters in storage; beyond them the oldest are discarded. */
  L_QUEUE_EVENTS: 2000,
  L_QUEUE_CHARS: 2_000_000,
  /** The bound is checked on every hundredth event of a page and after a failed request, because the check reads everything. */
  L_TRIM_EVERY: 100,
  /** Events and characters per request. */
  L_BATCH_EVENTS: 100,
  L_BATCH_CHARS: 200_000,
  /** Browsers limit all `keepalive` requests and beacons of a page to 64 KB together; a character may take three bytes. */
  L_KEEPALIVE_CHARS: 20_000,
  L_TIMEOUT_MS: 20_000,
  /** Events of a page's first request are stored if there is no reply by then. */
  L_LATE_MS: 1000,
  /** An event in flight when its page ended is repeated only while the server certainly remembers its messageId. */
  L_UNCLEAR_MS: 500_000,
  /** Time a page has to reply before another takes over its events. Storage reaches other tabs within milliseconds. */
  L_ADOPT_MS: 2000,
  /** A request that failed this shortly before the page ended was cut off by it. */
  L_CUT_MS: 300,
  L_RETRY_BASE_MS: 1000,
  L_RETRY_MAX_MS: 60_000,
  /** Upper limit for `Retry-After`. */
  L_ASKED_MAX_MS: 3_600_000,
  /** Events held until consent is known. */
  L_HELD_EVENTS: 1000,
} as const;
