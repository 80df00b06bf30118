/** Wall time for stored values, monotonic time for waits. Injected, so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds; never goes back. */
  monotonic(): number;
}
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };
