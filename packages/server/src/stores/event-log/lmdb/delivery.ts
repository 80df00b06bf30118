import type { Append, Delivery, StoredRecord } from '../port.ts';
import type { LmdbConsumer } from './consumer.ts';
import type { Group } from './group.ts';

/** One record handed to one group. The same object is handed out again where its handler failed. */
export class LmdbDelivery implements Delivery {
  readonly record: StoredRecord;
  readonly seq: number;
  readonly attempt: number;
  readonly state: unknown;
  readonly group: Group;
  /** When it was due, where it comes from the waiting retries. */
  readonly retryDue: number | undefined;
  /** Has it in flight, and wants to know when it is settled. */
  holder: LmdbConsumer | undefined;
  /** Its place among those that its holder has in hand. */
  slot = -1;
  #settling: Promise<void> | undefined;

  /** Of a record that is only to be settled. */
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
    this.#settling ??= this.group.settle({ deliveries: [this], alongside: { appends } });
    return this.#settling;
  }

  retryIn(delayMs: number, state: unknown, appends: Append[] = []): Promise<void> {
    this.#settling ??= this.group.settle({ deliveries: [this], retry: { delayMs, state }, alongside: { appends } });
    return this.#settling;
  }

  /** It is settled together with others; undefined where that failed. */
  settledBy(settling: Promise<void> | undefined): void {
    this.#settling = settling;
  }
}
