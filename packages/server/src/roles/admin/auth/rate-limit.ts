import type { Clock } from '../../../runtime/clock.ts';

const WINDOW_MS = 60_000;
const MOST_USERS = 50_000;

/**
 * Limits requests per user and minute; the minute starts with the first request. Counted in memory, so behind a load balancer the limit
 * applies to each admin process. Returns the seconds to wait, or 0.
 */
export function createRateLimit(most: number, clock: Clock): (userId: string) => number {
  const windows = new Map<string, { ends: number; used: number }>();
  return (userId) => {
    const now = clock.monotonic();
    let window = windows.get(userId);
    if (window === undefined || window.ends <= now) {
      if (windows.size >= MOST_USERS) for (const [id, { ends }] of windows) if (ends <= now) windows.delete(id);
      window = { ends: now + WINDOW_MS, used: 0 };
      windows.set(userId, window);
    }
    window.used += 1;
    return window.used > most ? Math.ceil((window.ends - now) / 1000) : 0;
  };
}
