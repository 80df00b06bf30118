import type { Append, Delivery, StoredRecord } from '../port.ts';
import type { LmdbConsumer } from './consumer.ts';
import type { Group, Settlement } from './group.ts';

/** One record delivered to one group. The same object is redelivered after its handler failed. */
export class LmdbDelivery implements Delivery {
  readonly record: StoredRecord;
  readonly seq: number;
  readonly attempt: number;
  readonly state: unknown;
  readonly group: Group;
  /** Due time, if this is a retry. */
  readonly retryDue: number | undefined;
  /** The consumer that has it in flight and is notified when it is settled. */
  holder: LmdbConsumer | undefined;
  /** Index in its holder's in-flight list. */
  slot = -1;
  #settling: Promise<void> | undefined;

  /** For a record that no longer exists and only needs to be settled. */
  static ofGone(group: Group, seq: number, attempt = 1, state?: unknown, retryDue?: number): LmdbDelivery {
    return new LmdbDelivery(group, seq, { id: '', data: new Uint8Array(), position: '', time: 0 }, attempt, state, retryDue);
  }
  constructor(group: Group, seq: number, record: StoredRecord, attempt: number, state: unknown, retryDue: number | undefined) {
    this.group = group;
    this.seq = seq;
    this.record = record;
    this.attempt = attempt;
    this.state = state;
    this.retryDue = retryDue;
  }

  get isSettling(): boolean {
    return this.#settling !== undefined;
  }

  ack(appends: Append[] = []): Promise<void> {
    return this.#settling ?? this.#settle({ deliveries: [this], alongside: { appends } });
  }

  retryIn(delayMs: number, state: unknown, appends: Append[] = []): Promise<void> {
    return this.#settling ?? this.#settle({ deliveries: [this], retry: { delayMs, state }, alongside: { appends } });
  }

  #settle(settlement: Settlement): Promise<void> {
    const settling = this.group.settle(settlement);
    this.#settling = settling;
    // It is open again: the caller may repeat it.
    settling.catch(() => {
      if (this.#settling === settling) this.#settling = undefined;
    });
    return settling;
  }

  /** The delivery is settled in a batch. `undefined`: that settlement failed. */
  settledBy(settling: Promise<void> | undefined): void {
    this.#settling = settling;
  }
}
