import type { Clock } from '../../../runtime/clock.ts';

const WINDOW_MS = 60_000;
const MOST_USERS = 50_000;

/**
 * So many requests a minute for each user, counted from the first of that minute. Kept in this process's memory: behind a load balancer
 * a user has that many on each admin process. Returns the seconds to wait, 0 for none.
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
