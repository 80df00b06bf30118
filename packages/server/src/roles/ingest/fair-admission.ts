/**
 * Whom to refuse while the event loop is saturated: the organisation that sends the most. While several organisations send and the loop is
 * busy, the heaviest sender gets a limit, which falls until the loop has time again and then rises slowly. The limit is spread over time:
 * what it allows in 100 ms must not come at once, because the others would wait for it. One organisation alone is never limited here; see
 * `load-shedder.ts`.
 */
import { loopUtilisation } from '../../runtime/loop-utilisation.ts';
import { BYTES_OF_A_REQUEST } from './load-shedder.ts';

const TICK_MS = 100;
/** Shares of the time that the loop is at work. Above the first an organisation gets a limit. */
const BUSY = 0.75;
/** A limit falls above the first of these and rises below the second: half of the time is left to the others. */
const HALF = 0.5;
const CALM = 0.4;
const FALL = 0.6;
const RISE = 1.02;
/** A loop that was busy for fewer ticks had a burst, which is accepted whole. */
const BURST_TICKS = 5;
/** Events per tick that every organisation may always send: 600 per second. */
const FLOOR = 60;
/** What an organisation has not used for so many ticks it may send at once: requests gather while the loop is held up. */
const CREDIT_TICKS = 10;
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
  /** Events per tick. */
  limit: number;
  /** Events that a limited organisation may send now. Below zero, it has to wait. */
  credit: number;
  creditedAt: number;
  /** Events of an average request. They are taken from the credit before the request is read, and `reserved` until it is. */
  perRequest: number;
  reserved: number;
  idleTicks: number;
  calmTicks: number;
}

export class FairAdmission {
  readonly #utilisation: () => number;
  readonly #now: () => number;
  readonly #shares = new Map<string, Share>();
  #last: Share | undefined;
  #limits = 0;
  #busyTicks = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `utilisation`: the share of time since the last call in which the event loop was at work. */
  constructor(utilisation: () => number = loopUtilisation(), now: () => number = () => performance.now()) {
    this.#utilisation = utilisation;
    this.#now = now;
  }

  /** Whether to answer 503 to this organisation's request. Call once per request. */
  refuses(orgId: string): boolean {
    if (this.#limits === 0) return false;
    const share = this.#shares.get(orgId);
    if (share === undefined || share.limit === Number.POSITIVE_INFINITY) return false;
    const now = this.#now();
    share.credit = Math.min(share.limit * CREDIT_TICKS, share.credit + ((now - share.creditedAt) * share.limit) / TICK_MS);
    share.creditedAt = now;
    if (share.credit <= 0) {
      share.calmTicks = 0;
      return true;
    }
    share.credit -= share.perRequest;
    share.reserved += share.perRequest;
    return false;
  }

  /** Counts the events of one request, which are about to be stored. */
  charge(orgId: string, events: number, bytes: number): void {
    let share = this.#last;
    if (share?.orgId !== orgId) {
      share = this.#shares.get(orgId);
      if (share === undefined) {
        share = newShare(orgId);
        this.#shares.set(orgId, share);
      }
      this.#last = share;
      this.#timer ??= setInterval(() => this.tick(), TICK_MS).unref();
    }
    const cost = events + bytes / BYTES_OF_A_REQUEST;
    share.used += cost;
    share.perRequest = share.perRequest * 0.9 + cost * 0.1;
    const back = Math.min(share.reserved, share.perRequest);
    share.reserved -= back;
    share.credit += back - cost;
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
      // Of requests that were rejected after they were read.
      share.reserved = 0;
      if (share.idleTicks > ACTIVE_TICKS) this.#forget(share);
      else if (heaviest === undefined || share.usual > heaviest.usual) heaviest = share;
    }
    const isShared = this.#shares.size > 1;
    const isSaturated = this.#busyTicks > BURST_TICKS || (this.#busyTicks > 0 && this.#limits > 0);
    if (isShared && isSaturated && heaviest?.limit === Number.POSITIVE_INFINITY) this.#limit(heaviest);
    this.#limits = 0;
    for (const share of this.#shares.values()) {
      if (share.limit === Number.POSITIVE_INFINITY) continue;
      if (busy > HALF) share.limit = Math.max(FLOOR, share.limit * FALL);
      else if (busy < CALM) share.limit = share.limit * RISE + 1;
      if (!isShared || ++share.calmTicks > FORGET_TICKS) share.limit = Number.POSITIVE_INFINITY;
      else this.#limits += 1;
    }
  }

  #limit(share: Share): void {
    share.limit = Math.max(share.usual, FLOOR);
    share.calmTicks = 0;
    share.credit = FLOOR;
    share.creditedAt = this.#now();
  }

  #forget(share: Share): void {
    this.#shares.delete(share.orgId);
    if (this.#last === share) this.#last = undefined;
  }
}

function newShare(orgId: string): Share {
  const limit = Number.POSITIVE_INFINITY;
  return { orgId, used: 0, usual: 0, limit, credit: 0, creditedAt: 0, perRequest: 1, reserved: 0, idleTicks: 0, calmTicks: 0 };
}
