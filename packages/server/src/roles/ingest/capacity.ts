import { BYTES_OF_A_REQUEST, LoadShedder } from './load-shedder.ts';

/**
 * Bounds what ingest holds in memory: bytes of bodies being received, and requests waiting for the log. Over a bound the reply
 * is 503 before memory grows. While bodies are received, large ones are rejected first: a few slow uploads must not shut out
 * everybody's small events.
 */
export interface CapacityLimits {
  receivingBytes: number;
  appendingBytes: number;
  appendingRequests: number;
}
export const CAPACITY_LIMITS: CapacityLimits = {
  receivingBytes: 48 * 1_048_576,
  appendingBytes: 32 * 1_048_576,
  appendingRequests: 4_000,
};
const SMALL_BODY = 65_536;
/** This many requests of the usual size may always wait for the log; more only while the oldest waits no longer than this. */
const FEW_APPENDING = 1_000;
const MAX_WAIT_MS = 200;
/** Resolution of the waiting time. */
const MARK_MS = 5;

export class Capacity {
  #receiving = 0;
  #appending = 0;
  #appendingBytes = 0;
  #inFlight = 0;
  #idle: (() => void)[] = [];
  #begun = 0;
  #ended = 0;
  /** Append number `n` began at `at`, oldest first. The log settles appends in the order they were made. */
  #marks: { n: number; at: number }[] = [];
  readonly #limits: CapacityLimits;
  readonly #shedder: LoadShedder;
  readonly #now: () => number;

  constructor(limits: CapacityLimits = CAPACITY_LIMITS, shedder = new LoadShedder(), now = () => performance.now()) {
    this.#limits = limits;
    this.#shedder = shedder;
    this.#now = now;
  }
  /** Whether no further append may begin. */
  get isFull(): boolean {
    if (this.#appending >= this.#limits.appendingRequests || this.#appendingBytes >= this.#limits.appendingBytes) return true;
    const oldest = this.#marks[0];
    return this.#load >= FEW_APPENDING && oldest !== undefined && this.#now() - oldest.at > MAX_WAIT_MS;
  }
  /** Appends in progress, in requests of the usual size. */
  get #load(): number {
    return this.#appending + this.#appendingBytes / BYTES_OF_A_REQUEST;
  }
  /** Whether this request must be answered 503. Call once per request: the call counts it. */
  sheds(): boolean {
    return this.isFull || this.#shedder.sheds(this.#load);
  }
  enter(): void {
    this.#inFlight++;
  }
  /** False where this body must be rejected. */
  receive(bytes: number, bodySoFar: number): boolean {
    this.#receiving += bytes;
    return this.#receiving <= this.#limits.receivingBytes || bodySoFar <= SMALL_BODY;
  }
  /** A body of this many unpacked bytes is being handled. */
  addCost(bytes: number): void {
    if (bytes > BYTES_OF_A_REQUEST) this.#shedder.addRequests(bytes / BYTES_OF_A_REQUEST);
  }
  beginAppend(bytes: number): void {
    this.#appending++;
    this.#appendingBytes += bytes;
    const n = this.#begun++;
    const at = this.#now();
    const last = this.#marks.at(-1);
    if (last === undefined || at - last.at >= MARK_MS) this.#marks.push({ n, at });
  }
  endAppend(bytes: number): void {
    this.#appending--;
    this.#appendingBytes -= bytes;
    this.#ended++;
    // The first mark stands for all appends up to the next mark.
    const next = this.#marks[1];
    if (this.#appending === 0) this.#marks.length = 0;
    else if (next !== undefined && next.n <= this.#ended) this.#marks.shift();
  }
  /** `bytes`: what the request held of `receive`. */
  leave(bytes: number): void {
    this.#receiving -= bytes;
    if (--this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
  /** Resolves when no request is in flight, at the latest after `ms`. */
  idle(ms: number): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
