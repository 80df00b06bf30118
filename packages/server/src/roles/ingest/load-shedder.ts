/**
 * Detects that requests arrive faster than they can be handled. Waiting requests sit in socket buffers, where their age is
 * unknown. But one turn of the event loop reads everything that is there, so nothing it reads is older than the turn before.
 * Under overload each turn therefore accepts a few requests, as long as few enough wait for the log, and sheds the rest.
 * A 503 is much cheaper than accepting: turns stay short, and accepted requests are answered soon.
 */
/**
 * A turn is full when it has read more requests than this for longer than this, or finds this many waiting for the log. Where
 * fewer requests make a long turn, their number is not the cause. A large body counts as several requests.
 */
const FULL = { requests: 300, ms: 25, appending: 1_000 };
/** Under overload a turn is full much sooner: the backlog must shrink, and turns with it. */
const FULL_UNDER_OVERLOAD = { requests: 150, ms: 5, appending: 800 };
/** Full turns for less than this are a burst, which is accepted whole. */
const BURST_MS = 500;
/** A burst or an overload has ended when no turn was full for this long. */
const CALM_MS = 250;
/** A longer gap between two requests is idle time, or other work of the process. */
const MAX_MS_PER_REQUEST = 10;

/** A large body counts as several requests: one extra per 2.4 KB. */
export const BYTES_OF_A_REQUEST = 2_400;

export class LoadShedder {
  readonly #now: () => number;
  #isTurnOpen = false;
  /** Of this turn: requests read, the time they took, and when the last one was read. */
  #requests = 0;
  #spentMs = 0;
  #lastAt = 0;
  /** When the last full turn was, and for how long turns had been full by then. */
  #fullAt = Number.NEGATIVE_INFINITY;
  #fullForMs = 0;
  readonly #endTurn = () => {
    this.#isTurnOpen = false;
  };

  constructor(now = () => performance.now()) {
    this.#now = now;
  }
  /** Adds the cost of a large body, in requests. */
  addRequests(requests: number): void {
    this.#requests += requests;
  }
  /** Whether to shed the request that was just read, with this many waiting for the log. Call once per request. */
  sheds(appending: number): boolean {
    const now = this.#now();
    if (this.#isTurnOpen) this.#spentMs += Math.min(now - this.#lastAt, MAX_MS_PER_REQUEST);
    else {
      this.#isTurnOpen = true;
      this.#requests = 0;
      this.#spentMs = 0;
      setImmediate(this.#endTurn);
    }
    this.#lastAt = now;
    this.#requests++;
    const since = now - this.#fullAt;
    const isOverloaded = since <= CALM_MS && this.#fullForMs > BURST_MS;
    const limit = isOverloaded ? FULL_UNDER_OVERLOAD : FULL;
    if (appending <= limit.appending && (this.#requests <= limit.requests || this.#spentMs <= limit.ms)) return false;
    this.#fullForMs = since > CALM_MS ? 0 : this.#fullForMs + since;
    this.#fullAt = now;
    return isOverloaded;
  }
}
