/** Numbers of the collector, written into its code as literals: a named constant would cost bytes in every page. */
export const LIMITS = {
  /** Events and characters that wait in storage; beyond them the oldest give way. */
  L_QUEUE_EVENTS: 2000,
  L_QUEUE_CHARS: 2_000_000,
  /** Measured on each hundredth event of a page, and when some could not be sent, because measuring reads everything. */
  L_TRIM_EVERY: 100,
  /** Events and characters of one request. */
  L_BATCH_EVENTS: 100,
  L_BATCH_CHARS: 200_000,
  /** All `keepalive` requests and beacons of a page may hold 64 KB together; a character may take three bytes. */
  L_KEEPALIVE_CHARS: 20_000,
  L_TIMEOUT_MS: 20_000,
  /** The events of a page's first request are written to the device when it has not been answered by then. */
  L_LATE_MS: 1000,
  /** An event that was under way when its page ended is repeated only while the server surely remembers its messageId. */
  L_UNCLEAR_MS: 500_000,
  /** How long a page has to say that it lives before another takes its events over. Storage takes milliseconds to other tabs. */
  L_ADOPT_MS: 2000,
  /** How long a request that ended without an answer may still turn out to have been cut off by the end of its page. */
  L_CUT_MS: 300,
  L_RETRY_BASE_MS: 1000,
  L_RETRY_MAX_MS: 60_000,
  /** Of what `Retry-After` asks for. */
  L_ASKED_MAX_MS: 3_600_000,
  /** Events that wait for consent. */
  L_HELD_EVENTS: 1000,
} as const;
