import type { Clock } from '../runtime/clock.ts';

const SLACK_MS = 10 * 60_000;
const HELD_MS = 3_600_000;

/**
 * Whether the wall clock has jumped ahead since the last call that returned false. A clock that is wrong for a minute must not delete the
 * history. After an hour the new time counts: the clock was corrected, or the machine was suspended.
 */
export function guardAgainstJumps(clock: Clock): () => boolean {
  let trusted = { now: clock.now(), monotonic: clock.monotonic() };
  let jumpedAt: number | undefined;
  return () => {
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    if (now > trusted.now + (monotonic - trusted.monotonic) + SLACK_MS) {
      jumpedAt ??= monotonic;
      if (monotonic - jumpedAt < HELD_MS) return true;
    }
    jumpedAt = undefined;
    trusted = { now, monotonic };
    return false;
  };
}
