import type { Clock } from '../../runtime/clock.ts';

const EVERY_MS = 1_000;
/** An answer is stored with every event of its request. */
const MOST_EVENTS = 10;

/**
 * Which answers to successful deliveries of an integration are kept. Storing all of them would double what a busy integration writes; one
 * request a second shows what the vendor answers, and under little traffic every answer is there.
 */
export class AnswerSample {
  readonly #clock: Clock;
  #next = Number.NEGATIVE_INFINITY;
  constructor(clock: Clock) {
    this.#clock = clock;
  }
  mayKeep(events: number): boolean {
    if (events > MOST_EVENTS) return false;
    const now = this.#clock.monotonic();
    if (now < this.#next) return false;
    this.#next = now + EVERY_MS;
    return true;
  }
}
