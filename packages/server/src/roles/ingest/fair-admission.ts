/**
 * Whom to refuse while the event loop is saturated: the organisation that sends the most. While several organisations send and the loop is
 * busy, the heaviest sender gets a limit, which falls until the loop has time again and then rises slowly. The others do not notice. One
 * organisation alone is never limited here; see `load-shedder.ts`.
 */
import { loopUtilisation } from '../../runtime/loop-utilisation.ts';
import { BYTES_OF_A_REQUEST } from './load-shedder.ts';

const TICK_MS = 100;
/** Shares of the time that the loop is at work. Above the first a limit falls, below the second it rises. */
const BUSY = 0.75;
const CALM = 0.6;
const FALL = 0.6;
const RISE = 1.1;
/** A loop that was busy for fewer ticks had a burst, which is accepted whole. */
const BURST_TICKS = 5;
/** Events per tick that every organisation may always send. */
const FLOOR = 20;
/** An organisation counts as sending for so many ticks after its last event. */
const ACTIVE_TICKS = 10;
/** A limit ends when nothing was refused for so many ticks. */
const FORGET_TICKS = 50;

interface Share {
  orgId: string;
  /** Events in this tick. A large one counts as several. */
  used: number;
  /** Average of `used` over the last ticks. */
  usual: number;
  limit: number;
  idleTicks: number;
  calmTicks: number;
}

export class FairAdmission {
  readonly #utilisation: () => number;
  readonly #shares = new Map<string, Share>();
  #last: Share | undefined;
  #limits = 0;
  #busyTicks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `utilisation`: the share of time since the last call in which the event loop was at work. */
  constructor(utilisation: () => number = loopUtilisation()) {
    this.#utilisation = utilisation;
  }

  /** Whether to answer 503 to this organisation's request. */
  refuses(orgId: string): boolean {
    if (this.#limits === 0) return false;
    const share = this.#shares.get(orgId);
    if (share === undefined || share.used < share.limit) return false;
    share.calmTicks = 0;
    return true;
  }

  /** Counts events that are about to be stored. */
  charge(orgId: string, events: number, bytes: number): void {
    let share = this.#last;
    if (share?.orgId !== orgId) {
      share = this.#shares.get(orgId);
      if (share === undefined) {
        share = { orgId, used: 0, usual: 0, limit: Number.POSITIVE_INFINITY, idleTicks: 0, calmTicks: 0 };
        this.#shares.set(orgId, share);
      }
      this.#last = share;
      this.#timer ??= setInterval(() => this.tick(), TICK_MS).unref();
    }
    share.used += events + bytes / BYTES_OF_A_REQUEST;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Called every 100 ms. */
  tick(): void {
    const busy = this.#utilisation();
    this.#busyTicks = busy > BUSY ? this.#busyTicks + 1 : 0;
    let heaviest: Share | undefined;
    for (const share of this.#shares.values()) {
      share.idleTicks = share.used > 0 ? 0 : share.idleTicks + 1;
      share.usual = share.usual * 0.7 + share.used * 0.3;
      share.used = 0;
      if (share.idleTicks > ACTIVE_TICKS) this.#forget(share);
      else if (heaviest === undefined || share.usual > heaviest.usual) heaviest = share;
    }
    const isShared = this.#shares.size > 1;
    const isSaturated = this.#busyTicks > BURST_TICKS || (this.#busyTicks > 0 && this.#limits > 0);
    if (isShared && isSaturated && heaviest !== undefined) lower(heaviest);
    this.#limits = 0;
    for (const share of this.#shares.values()) {
      if (share.limit === Number.POSITIVE_INFINITY) continue;
      if (busy < CALM) share.limit = share.limit * RISE + 1;
      if (!isShared || ++share.calmTicks > FORGET_TICKS) share.limit = Number.POSITIVE_INFINITY;
      else this.#limits += 1;
    }
  }

  #forget(share: Share): void {
    this.#shares.delete(share.orgId);
    if (this.#last === share) this.#last = undefined;
  }
}

function lower(share: Share): void {
  const from = Math.min(share.limit, Math.max(share.usual, FLOOR));
  share.limit = Math.max(FLOOR, from * FALL);
  share.calmTicks = 0;
}
