import { Backlog } from './backlog.ts';

/**
 * Bounds what ingest holds: bytes of bodies on their way in, and requests waiting for the log. Over a bound the answer is
 * 503 before memory grows. While bodies come in, large ones give way first, so that a few slow uploads cannot shut out
 * everybody's small events.
 */
export interface GateLimits {
  receivingBytes: number;
  waitingBytes: number;
  waitingRequests: number;
}
export const GATE_LIMITS: GateLimits = { receivingBytes: 48 * 1_048_576, waitingBytes: 32 * 1_048_576, waitingRequests: 4_000 };
const SMALL_BODY = 65_536;
export class Gate {
  receiving = 0;
  waiting = 0;
  waitingBytes = 0;
  readonly #limits: GateLimits;
  #idle: (() => void)[] = [];
  #open = 0;
  readonly #backlog: Backlog;

  constructor(limits: GateLimits = GATE_LIMITS, backlog = new Backlog()) {
    this.#limits = limits;
    this.#backlog = backlog;
  }
  /** Whether a request may begin at all. */
  get full(): boolean {
    return this.waiting >= this.#limits.waitingRequests || this.waitingBytes >= this.#limits.waitingBytes;
  }
  /** Whether more comes than can be taken in. */
  overrun(_receivedAt?: number): boolean {
    return this.#backlog.sheds();
  }
  enter(): void {
    this.#open++;
  }
  /** False where this body has to give way. */
  receive(bytes: number, bodySoFar: number): boolean {
    this.receiving += bytes;
    return this.receiving <= this.#limits.receivingBytes || bodySoFar <= SMALL_BODY;
  }
  wait(bytes: number): void {
    this.waiting++;
    this.waitingBytes += bytes;
  }
  waited(bytes: number): void {
    this.waiting--;
    this.waitingBytes -= bytes;
  }
  leave(bytes: number): void {
    this.receiving -= bytes;
    if (--this.#open === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
  /** Resolves when no request is under way, at the latest after `ms`. */
  idle(ms: number): Promise<void> {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
