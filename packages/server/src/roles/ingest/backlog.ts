/**
 * Whether requests come faster than they can be taken in. They wait in the sockets' buffers, where nobody sees them; but
 * each turn of the event loop reads all that is there, so what a turn reads has come since the turn before began. While
 * turns are short nothing waits. While they stay long, a turn takes in a share and refuses the rest, which is quicker: the
 * next one is shorter for it, and what is accepted is answered soon.
 */
/** A turn this short leaves nothing behind: whatever comes next is fresh. */
const SHORT_MS = 5;
/** A turn or two that are long are a pause or a burst, and are made good by taking in what has come. */
const PASSING_MS = 250;
const PASSING_TURNS = 3;
/** Work on requests, in processor time: being kept waiting by other processes is no work. */
const SHARE_IN_PASSING_MS = 100;
/** What a turn takes in when turns stay long is set by the work in them: an answer is three or four of them away. */
const SHARE_MS = { least: 8, first: 20, most: 40 };
const TURN_MS = { short: 40, long: 50 };
/** Fewer requests than this in two turns are not what makes turns long: refusing them would help nobody. */
const FEW = 100;
/** What a request costs at the least. A turn that was longer than twice its requests' cost was long for another reason. */
const REQUEST_MS = 0.02;
/** Requests older than this are refused when turns stay long: their answer would need two turns more. */
const MAX_AGE_MS = 120;

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
  #longTurns = 0;
  #share = SHARE_MS.first;
  #turnStart = 0;
  #turnStartCpu = 0;
  /** How long the turn before took. */
  #before = 0;
  /** Requests of the turn before, and of this one so far. */
  #cameBefore = 0;
  #came = 0;
  /** When this turn's first request came, and the processor time at that moment. */
  #firstAt: number | undefined;
  #firstCpu = 0;
  readonly #endTurn = () => {
    const now = this.#time.now();
    const cpu = this.#time.cpu();
    const worked = cpu - this.#turnStartCpu;
    this.#before = now - this.#turnStart;
    this.#turnStart = now;
    this.#turnStartCpu = cpu;
    this.#firstAt = undefined;
    this.#cameBefore = this.#came;
    this.#came = 0;
    this.#watching = this.#before >= SHORT_MS;
    this.#longTurns++;
    if (worked > TURN_MS.long) this.#share = Math.max(SHARE_MS.least, this.#share * 0.75);
    else if (worked < TURN_MS.short) this.#share = Math.min(SHARE_MS.most, this.#share + 1);
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
      this.#turnStartCpu = this.#time.cpu();
      this.#before = this.#longTurns = this.#cameBefore = this.#came = 0;
      this.#share = SHARE_MS.first;
      setImmediate(this.#endTurn);
    }
    if (this.#firstAt === undefined) {
      this.#firstAt = now;
      this.#firstCpu = this.#time.cpu();
    }
    if (this.#cameBefore + ++this.#came < FEW) return false;
    const lasting = this.#longTurns >= PASSING_TURNS && now - this.#since > PASSING_MS;
    if (lasting && this.#before + now - this.#turnStart > MAX_AGE_MS && this.#cameBefore * REQUEST_MS * 2 > this.#before) return true;
    const share = lasting ? this.#share : SHARE_IN_PASSING_MS;
    return now - this.#firstAt > share && this.#time.cpu() - this.#firstCpu > share;
  }
}
