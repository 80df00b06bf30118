/**
 * Whether requests come faster than they can be taken in. They wait in the sockets' buffers, where nobody sees their age; but
 * a turn of the event loop reads whatever is there, so nothing that is read can be older than the turn before it. Under an
 * overload each turn therefore takes in a few, as long as not too many wait for the log, and refuses the rest of what it
 * reads. Refusing is much quicker, so that turns stay short, and what is taken in is answered soon.
 */
/**
 * A turn is full that has read more requests than this, and for so long, or that finds so many waiting for the log. Where fewer
 * make a turn long, it is not their number. Large bodies count for as many small ones as they take time.
 */
const FULL = { requests: 300, ms: 25, waiting: 1_000 };
/** Under an overload it is full much sooner: the backlog has to become shorter, and turns with it. */
const FULL_UNDER_OVERLOAD = { requests: 150, ms: 5, waiting: 800 };
/** When turns are full for less than this it is a burst, and taken in whole. */
const BURST_MS = 500;
/** A burst or an overload is over when no turn was full for so long. */
const CALM_MS = 250;
/** More than this between two requests is a pause, or somebody else's work. */
const MOST_FOR_ONE_MS = 10;

/** What a request of so many bytes more costs is what another one would. */
export const BYTES_OF_A_REQUEST = 2_400;

export class Backlog {
  readonly #now: () => number;
  #turning = false;
  /** Requests of this turn, how long they have taken, and when the last of them came. */
  #came = 0;
  #spent = 0;
  #cameAt = 0;
  /** When a turn was full last, and for how long turns had been full by then. */
  #fullAt = Number.NEGATIVE_INFINITY;
  #fullFor = 0;
  readonly #endTurn = () => {
    this.#turning = false;
  };

  constructor(now = () => performance.now()) {
    this.#now = now;
  }
  /** A body was read that is as good as so many more requests. */
  took(requests: number): void {
    this.#came += requests;
  }
  /** Whether a request that is read now, while so many wait for the log, has to be refused. To be asked once for each that is not. */
  sheds(waiting: number): boolean {
    const now = this.#now();
    if (this.#turning) this.#spent += Math.min(now - this.#cameAt, MOST_FOR_ONE_MS);
    else {
      this.#turning = true;
      this.#came = 0;
      this.#spent = 0;
      setImmediate(this.#endTurn);
    }
    this.#cameAt = now;
    this.#came++;
    const since = now - this.#fullAt;
    const overload = since <= CALM_MS && this.#fullFor > BURST_MS;
    const limit = overload ? FULL_UNDER_OVERLOAD : FULL;
    if (waiting <= limit.waiting && (this.#came <= limit.requests || this.#spent <= limit.ms)) return false;
    this.#fullFor = since > CALM_MS ? 0 : this.#fullFor + since;
    this.#fullAt = now;
    return overload;
  }
}
