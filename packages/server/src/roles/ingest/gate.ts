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
/**
 * Requests that one turn of the event loop takes in before it sheds the rest of that turn. What waits in the sockets'
 * buffers cannot be seen, but a turn this long means that it waits: a quick 503 then keeps accepted requests quick.
 */
const TURN_MS = 100;

export class Gate {
  receiving = 0;
  waiting = 0;
  waitingBytes = 0;
  readonly #limits: GateLimits;
  #idle: (() => void)[] = [];
  #open = 0;
  #turnSince: number | undefined;
  readonly #endTurn = () => {
    this.#turnSince = undefined;
  };

  constructor(limits: GateLimits = GATE_LIMITS) {
    this.#limits = limits;
  }
  /** Whether a request may begin at all. */
  get full(): boolean {
    return this.waiting >= this.#limits.waitingRequests || this.waitingBytes >= this.#limits.waitingBytes;
  }
  /** Whether this turn of the event loop has been at it for too long. */
  overrun(now: number): boolean {
    if (this.#turnSince === undefined) {
      this.#turnSince = now;
      setImmediate(this.#endTurn);
      return false;
    }
    return now - this.#turnSince > TURN_MS;
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
