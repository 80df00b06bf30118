/** Suspends code after too many terminated runs in a minute, because each one costs worker time. */
import type { Clock } from '../runtime/clock.ts';

const ENDED_RUNS = 5;
const WINDOW_MS = 60_000;
const REST_MS = 30_000;
const MAX_OWNERS = 10_000;

export class Suspensions {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #owners = new Map<string, { ended: number[]; until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  isSuspended(owner: string): boolean {
    const known = this.#owners.get(owner);
    if (known === undefined || known.until === 0) return false;
    if (this.#clock.monotonic() < known.until) return true;
    this.#owners.delete(owner);
    return false;
  }

  /** Returns whether this run exceeded the limit. */
  noteEnded(owner: string): boolean {
    const now = this.#clock.monotonic();
    const known = this.#owners.get(owner) ?? { ended: [], until: 0 };
    known.ended = known.ended.filter((at) => now - at < WINDOW_MS);
    known.ended.push(now);
    this.#owners.delete(owner);
    if (this.#owners.size >= MAX_OWNERS) this.#owners.delete(this.#owners.keys().next().value as string);
    this.#owners.set(owner, known);
    if (known.until !== 0 || known.ended.length < ENDED_RUNS) return false;
    known.until = now + REST_MS;
    return true;
  }
}

export const SUSPENDED = `suspended for ${REST_MS / 1_000} s after ${ENDED_RUNS} runs that had to be stopped`;
