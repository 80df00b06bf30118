/**
 * Shares each event loop turn between the organisations that send. While several do, one organisation may use a few milliseconds per
 * turn; its further requests wait for the next turns. One organisation alone is not limited, and small senders never notice.
 */
import { RoundRobin } from '../../runtime/round-robin.ts';

const SHARE_MS = 2;
/** Work on waiting requests per turn, over all organisations. */
const WAITING_MS = 3;
/** An organisation counts as sending for so long after a request. */
const ACTIVE_MS = 1_000;
/** Bodies that wait are in memory. */
const MAX_WAITING_BYTES = 16 * 1_048_576;

interface Waiting {
  orgId: string;
  bytes: number;
  run: () => void;
}

export class TurnShares {
  readonly #now: () => number;
  readonly #waiting = new RoundRobin<Waiting>();
  #waitingBytes = 0;
  /** Milliseconds used in this turn. */
  readonly #used = new Map<string, number>();
  #lastOrgId = '';
  #severalUntil = 0;
  #scheduled = false;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Runs the work now or in a later turn. False: too much is waiting, reject the request. */
  run(orgId: string, bytes: number, work: () => void): boolean {
    const now = this.#now();
    if (orgId !== this.#lastOrgId) {
      if (this.#lastOrgId !== '') this.#severalUntil = now + ACTIVE_MS;
      this.#lastOrgId = orgId;
    }
    const used = now < this.#severalUntil ? (this.#used.get(orgId) ?? 0) : 0;
    if (used < SHARE_MS) {
      work();
      // The clock is read again only where it matters.
      if (now < this.#severalUntil) this.#use(orgId, this.#now() - now);
      return true;
    }
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) return false;
    this.#waitingBytes += bytes;
    this.#waiting.push(orgId, { orgId, bytes, run: work });
    return true;
  }

  #use(orgId: string, ms: number): void {
    this.#used.set(orgId, (this.#used.get(orgId) ?? 0) + ms);
    this.#schedule();
  }
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#endTurn());
  }
  #endTurn(): void {
    this.#scheduled = false;
    this.#used.clear();
    const begin = this.#now();
    for (let now = begin; this.#waiting.size > 0 && now - begin < WAITING_MS; ) {
      const next = this.#waiting.next();
      if (next === undefined) break;
      this.#waitingBytes -= next.bytes;
      next.run();
      const after = this.#now();
      this.#use(next.orgId, after - now);
      now = after;
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
