/**
 * Whether requests come faster than they can be taken in. They wait in the sockets' buffers, where nobody sees their age; but
 * a turn of the event loop reads whatever is there, so nothing that is read can be older than the turn before it. Under an
 * overload each turn therefore takes requests in for a short while, and as long as not many wait for the log, and refuses the
 * rest of what it reads. Refusing is much quicker, so that turns stay short, and what is taken in is answered soon.
 */
/** There is an overload when turns read requests for so long, or so many wait for the log. */
const LONG_MS = 25;
const CROWD = 1_000;
/** Then each turn takes so many in, and more for so long, */
const MANY = 300;
const SHARE_MS = 10;
/** unless so many wait for the log. */
const FILE = 800;
/** Turns that are full for less than this are a burst: it is taken in whole. */
const BURST_MS = 1_000;
/** The next burst, or the end of an overload: no turn was full for so long. */
const CALM_MS = 250;
/** More than this between two requests is a pause, and no sign of many. */
const PAUSE_MS = 10;

export class Backlog {
  readonly #now: () => number;
  #turning = false;
  /** Requests of this turn, what they have taken, and when the last of them came. */
  #came = 0;
  #spent = 0;
  #cameAt = 0;
  /** Until when a turn was full, and for how long turns have been. */
  #fullAt = Number.NEGATIVE_INFINITY;
  #fullFor = 0;
  readonly #endTurn = () => {
    this.#turning = false;
  };

  constructor(now = () => performance.now()) {
    this.#now = now;
  }
  /** Whether a request that is read now has to be refused. */
  sheds(waiting: number): boolean {
    const now = this.#now();
    if (!this.#turning) {
      this.#turning = true;
      this.#came = 0;
      this.#spent = 0;
      setImmediate(this.#endTurn);
    } else this.#spent += Math.min(now - this.#cameAt, PAUSE_MS);
    this.#cameAt = now;
    this.#came++;
    const shedding = this.#fullFor > BURST_MS && now - this.#fullAt <= CALM_MS;
    const full = shedding
      ? waiting > FILE || (this.#came > MANY && this.#spent > SHARE_MS)
      : waiting > CROWD || (this.#came > MANY && this.#spent > LONG_MS);
    if (full) {
      const since = now - this.#fullAt;
      this.#fullFor = since > CALM_MS ? 0 : this.#fullFor + since;
      this.#fullAt = now;
    }
    return shedding && full;
  }
}
