import type { Append, Delivery, StoredRecord } from '../port.ts';

export interface RetryRequest {
  delayMs: number;
  state: unknown;
}
/** Where a delivery came from: a record of the topic, or a waiting retry of it. */
export type Origin = { kind: 'topic'; seq: number; index: number } | { kind: 'retry'; seq: number };

/** The consumer's side of a delivery. */
export interface Settler {
  settle(delivery: JetStreamDelivery, retry: RetryRequest | undefined, alongside: Append[]): Promise<void>;
}

export class JetStreamDelivery implements Delivery {
  readonly origin: Origin;
  readonly record: StoredRecord;
  readonly attempt: number;
  readonly state: unknown;
  readonly settler: Settler;
  readonly isDuplicate: boolean;
  /** Results of the record may be stored, also while it is not settled. */
  mayHaveResults = false;
  #settling: Promise<void> | undefined;

  constructor(settler: Settler, origin: Origin, record: StoredRecord, attempt: number, state: unknown, isDuplicate = false) {
    this.settler = settler;
    this.origin = origin;
    this.record = record;
    this.attempt = attempt;
    this.state = state;
    this.isDuplicate = isDuplicate;
  }

  get isSettling(): boolean {
    return this.#settling !== undefined;
  }
  /** Marks the delivery as settled by `settling`, unless it is settled already. Returns whether it was open. */
  claim(settling: Promise<void>): boolean {
    if (this.#settling !== undefined) return false;
    this.#settling = settling;
    // A settlement that failed can be repeated.
    settling.catch(() => {
      this.#settling = undefined;
    });
    return true;
  }
  ack(alongside: Append[] = []): Promise<void> {
    return this.#settling ?? this.#settle(undefined, alongside);
  }
  retryIn(delayMs: number, state: unknown, alongside: Append[] = []): Promise<void> {
    return this.#settling ?? this.#settle({ delayMs, state }, alongside);
  }
  #settle(retry: RetryRequest | undefined, alongside: Append[]): Promise<void> {
    this.mayHaveResults = true;
    const settling = this.settler.settle(this, retry, alongside);
    this.claim(settling);
    return settling;
  }
}
