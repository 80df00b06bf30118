import { Slots } from '../../../runtime/slots.ts';
import type { ConsumeOptions, Consumer, Delivery } from '../port.ts';
import { BlockRecord } from './block.ts';
import type { LmdbDelivery } from './delivery.ts';
import type { FairScheduler } from './fair-scheduler.ts';
import type { Group } from './group.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Delivers a group's records to one handler. Idle until woken, so a consumer without work costs nothing. */
export class LmdbConsumer implements Pick<Consumer, 'stop'> {
  readonly #group: Group;
  readonly #turns: FairScheduler;
  readonly #options: ConsumeOptions;
  readonly #handle: (batch: Delivery[]) => Promise<void>;
  readonly #inHand = new Slots<LmdbDelivery>();
  #running: Promise<void> | undefined;
  #scheduled = false;
  #stopped = false;
  #pause: NodeJS.Timeout | undefined;
  #pauseMs = 0;

  constructor(group: Group, turns: FairScheduler, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>) {
    this.#group = group;
    this.#turns = turns;
    this.#options = options;
    this.#handle = handle;
    group.consumers.add(this);
    group.skipsRetryDelays = options.skipRetryDelays === true;
    group.readsLate = options.readsLate === true;
    this.wake();
  }

  /** Call when there may be records to deliver. */
  wake(): void {
    if (this.#scheduled || this.#stopped || this.#running || this.#pause) return;
    this.#scheduled = true;
    this.#turns.take(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#stopped || this.#running || this.#pause) return;
    const room = Math.min(this.#options.maxBatch, this.#options.maxInFlight - this.#inHand.size);
    if (room <= 0) return;
    const taken = this.#group.take(room);
    if (taken.length === 0) return;
    const batch = taken.filter((delivery) => this.#includes(delivery));
    if (batch.length === 0) {
      this.wake();
      return;
    }
    for (const delivery of batch) {
      this.#inHand.add(delivery);
      delivery.holder = this;
    }
    this.#running = this.#run(batch);
  }

  /** Settles a record that does not belong to the group. */
  #includes(delivery: LmdbDelivery): boolean {
    const { includes } = this.#options;
    if (includes === undefined || delivery.attempt > 1 || includes(delivery.record)) return true;
    delivery.ack().catch((error: unknown) => {
      this.#group.failed(error);
      this.#group.giveBack([delivery]);
    });
    return false;
  }

  /** Removes a settled delivery from the in-flight list. */
  release(delivery: LmdbDelivery): void {
    // Otherwise its memory waits for a full garbage collection.
    if (this.#options.readsLate && this.#options.ordered && delivery.record instanceof BlockRecord) delivery.record.freeBlock();
    if (this.#inHand.remove(delivery)) this.wake();
  }

  async #run(batch: LmdbDelivery[]): Promise<void> {
    try {
      await this.#handle(batch);
      this.#pauseMs = 0;
    } catch (error) {
      this.#group.failed(error);
      this.#takeBack(batch);
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      this.#pause = setTimeout(() => {
        this.#pause = undefined;
        this.wake();
      }, this.#pauseMs);
    } finally {
      this.#running = undefined;
      this.wake();
    }
  }

  #takeBack(batch: LmdbDelivery[]): void {
    const unsettled = batch.filter((delivery) => !delivery.isSettling);
    for (const delivery of unsettled) {
      this.#inHand.remove(delivery);
      delivery.holder = undefined;
    }
    this.#group.giveBack(unsettled);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#pause);
    await this.#running;
    this.#takeBack(this.#inHand.all());
    this.#group.consumers.delete(this);
    this.#group.wake();
  }
}
