import { Backlog, BYTES_OF_A_REQUEST } from './backlog.ts';

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
/** So many of the usual size may always wait for the log, however slow it is; more only while none has waited for longer than this. */
const FEW_WAITING = 1_000;
const MAX_WAIT_MS = 200;
/** How finely the time of waiting is told. */
const MARK_MS = 5;

export class Gate {
  receiving = 0;
  waiting = 0;
  waitingBytes = 0;
  readonly #limits: GateLimits;
  #idle: (() => void)[] = [];
  #open = 0;
  #begun = 0;
  #ended = 0;
  /** The log answers in the order it was asked: request number `n` began at `at`, oldest first. */
  #marks: { n: number; at: number }[] = [];
  readonly #backlog: Backlog;
  readonly #now: () => number;

  constructor(limits: GateLimits = GATE_LIMITS, backlog = new Backlog(), now = () => performance.now()) {
    this.#limits = limits;
    this.#backlog = backlog;
    this.#now = now;
  }
  /** Whether a request may begin at all. */
  get full(): boolean {
    if (this.waiting >= this.#limits.waitingRequests || this.waitingBytes >= this.#limits.waitingBytes) return true;
    return this.#load >= FEW_WAITING && this.waiting > 0 && this.#now() - this.#marks[0]!.at > MAX_WAIT_MS;
  }
  /** What waits for the log, in requests of the usual size. */
  get #load(): number {
    return this.waiting + this.waitingBytes / BYTES_OF_A_REQUEST;
  }
  /** Whether this request has to be refused: no room, or more comes than can be taken in. To be asked once for each. */
  refuses(): boolean {
    return this.full || this.#backlog.sheds(this.#load);
  }
  enter(): void {
    this.#open++;
  }
  /** False where this body has to give way. */
  receive(bytes: number, bodySoFar: number): boolean {
    this.receiving += bytes;
    return this.receiving <= this.#limits.receivingBytes || bodySoFar <= SMALL_BODY;
  }
  /** A body of so many bytes, unpacked, is dealt with now. */
  take(bytes: number): void {
    if (bytes > BYTES_OF_A_REQUEST) this.#backlog.took(bytes / BYTES_OF_A_REQUEST);
  }
  wait(bytes: number): void {
    this.waiting++;
    this.waitingBytes += bytes;
    const n = this.#begun++;
    const at = this.#now();
    const last = this.#marks.at(-1);
    if (last === undefined || at - last.at >= MARK_MS) this.#marks.push({ n, at });
  }
  waited(bytes: number): void {
    this.waiting--;
    this.waitingBytes -= bytes;
    this.#ended++;
    // The first mark stands for all requests up to the next one.
    const next = this.#marks[1];
    if (this.waiting === 0) this.#marks.length = 0;
    else if (next !== undefined && next.n <= this.#ended) this.#marks.shift();
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
