/**
 * Whether requests come faster than they can be taken in. They wait in the sockets' buffers, where nobody sees them; but a
 * turn of the event loop that leaves nothing behind is short. While turns stay long, part of the time is spent on taking
 * requests in and the rest on refusing them, which is quicker: more are answered than come, and what is accepted is answered
 * soon. A burst is taken in whole: it is over in a moment, and what it may hold is bounded elsewhere.
 */
/** A turn this short leaves nothing behind: whatever comes next is fresh. */
const SHORT_MS = 5;
/** Turns that are long for less than this are a burst or a pause. */
const PASSING_MS = 1_000;
/**
 * Of each stretch of processor time this share is for taking in. (Being kept waiting by other processes is no work.) A
 * stretch also ends with its turn, but cannot wait for it: with thousands of busy connections a turn takes a second.
 */
const STRETCH_MS = 40;
/** The less, the longer turns are: only refusing more than comes makes a queue shorter. */
const SHARE_MS = { least: 4, most: 20 };
const TURN_MS = { long: 100, short: 50 };
/** Fewer requests than this in two stretches are not what makes turns long: refusing them would help nobody. */
const FEW = 100;

export interface BacklogClock {
  now(): number;
  /** Processor time of this thread in milliseconds. */
  cpu(): number;
}
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
const systemTime: BacklogClock = { now: () => performance.now(), cpu: threadCpuMs };

export class Backlog {
  readonly #time: BacklogClock;
  #watching = false;
  /** When turns began to be long. */
  #since = 0;
  #turnStart = 0;
  #share = SHARE_MS.most;
  /** The processor time when this stretch's first request came. */
  #stretchStart: number | undefined;
  /** Requests of the stretch before, and of this one so far. */
  #cameBefore = 0;
  #came = 0;
  readonly #endTurn = () => {
    const now = this.#time.now();
    const turn = now - this.#turnStart;
    this.#watching = turn >= SHORT_MS;
    this.#turnStart = now;
    if (turn > TURN_MS.long) this.#share = Math.max(SHARE_MS.least, this.#share / 2);
    else if (turn < TURN_MS.short) this.#share = Math.min(SHARE_MS.most, this.#share + 2);
    this.#endStretch();
    if (this.#watching) setImmediate(this.#endTurn);
  };

  constructor(time: BacklogClock = systemTime) {
    this.#time = time;
  }
  /** Whether a request that is read now has to be refused. */
  sheds(): boolean {
    const now = this.#time.now();
    if (!this.#watching) {
      this.#watching = true;
      this.#since = this.#turnStart = now;
      this.#share = SHARE_MS.most;
      this.#stretchStart = undefined;
      this.#cameBefore = this.#came = 0;
      setImmediate(this.#endTurn);
    }
    this.#came++;
    if (now - this.#since <= PASSING_MS) return false;
    const cpu = this.#time.cpu();
    if (this.#stretchStart !== undefined && cpu - this.#stretchStart > STRETCH_MS) this.#endStretch();
    this.#stretchStart ??= cpu;
    return this.#cameBefore + this.#came >= FEW && cpu - this.#stretchStart > this.#share;
  }
  #endStretch(): void {
    this.#stretchStart = undefined;
    this.#cameBefore = this.#came;
    this.#came = 0;
  }
}
