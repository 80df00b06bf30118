import type { Alongside } from '../port.ts';
import type { LmdbConsumer } from './consumer.ts';
import { LmdbDelivery } from './delivery.ts';
import type { Store } from './environment.ts';
import { readSeq, retryKey } from './keys.ts';
import type { SettledRanges } from './settled-ranges.ts';
import type { Topic } from './topic.ts';

export interface Settlement {
  deliveries: readonly LmdbDelivery[];
  /** Retry of a single delivery. */
  retry?: { delayMs: number; state: unknown };
  alongside: Omit<Alongside, 'save'>;
  /** May be stored in the settlement journal first and committed slightly later. */
  journal?: boolean;
}

interface GroupDeps {
  retries: Store;
  steady(): number;
  settle(settlement: Settlement): Promise<void>;
  /** The group has a retry due at that time. */
  wakeAt(group: Group, due: number): void;
  onError(error: unknown): void;
}

/** One reader of a topic: its cursor, in-flight records, and waiting retries. */
export class Group {
  readonly topic: Topic;
  readonly name: string;
  readonly number: number;
  readonly settled: SettledRanges;
  readonly consumers = new Set<LmdbConsumer>();
  readonly #deps: GroupDeps;
  /** Unsettled when the consumer stopped or its handler failed. Delivered again first. */
  #returned: LmdbDelivery[] = [];
  /** Retries that came due before their commit finished, while later ones were taken. `#takenDue` has already passed them. */
  #overtaken: LmdbDelivery[] = [];
  /** Due times of in-flight retries, by sequence. A retry can be read, and so appear here, before its commit is flushed. */
  readonly #inHand = new Map<number, number>();
  /** Read ahead, not yet delivered. */
  #ahead: LmdbDelivery[] = [];
  #next: number;
  /** Retries due up to this time were taken. All waiting ones are due later, because a new retry never gets an earlier due time. */
  #takenDue = 0;
  #takenSeq = 0;
  #retryCount: number | undefined;
  #nextDue: number | undefined;
  /** Waiting retries are delivered at once. */
  skipsRetryDelays = false;
  /** Its consumer reads new records from disk. */
  readsLate = false;
  stored: boolean;
  /** Resolves when its catalogue entry is on disk. */
  isStored: Promise<void> = Promise.resolve();
  removed = false;
  /** Part of the commit that is being built or written. */
  touched = false;

  constructor(topic: Topic, name: string, number: number, settled: SettledRanges, stored: boolean, deps: GroupDeps) {
    this.topic = topic;
    this.name = name;
    this.number = number;
    this.settled = settled;
    this.stored = stored;
    this.#deps = deps;
    this.#next = settled.cursor + 1;
    this.#nextDue = this.#peekDue();
  }

  /** A consumer reads new records soon after they are stored. */
  get readsTail(): boolean {
    return this.consumers.size > 0 && !this.readsLate;
  }
  /** The record was read, though it may still wait for its delivery. */
  hasRead(seq: number): boolean {
    return seq < this.#next;
  }

  settle(settlement: Settlement): Promise<void> {
    return this.#deps.settle(settlement);
  }

  /** Takes at most `room` records: failed ones first, then due retries, then new ones. */
  take(room: number): LmdbDelivery[] {
    if (this.removed) return [];
    // A late acknowledgement may have settled it in the meantime.
    while (this.#returned.length > 0) {
      const again = this.#returned.splice(0, room).filter((delivery) => !delivery.isSettling);
      if (again.length > 0) return again;
    }
    const out = this.#overtaken.splice(0, room);
    if (out.length < room) out.push(...this.#takeDueRetries(room - out.length));
    while (out.length < room) {
      if (this.#ahead.length === 0) this.#readAhead(room - out.length);
      if (this.#ahead.length === 0) break;
      out.push(...this.#ahead.splice(0, room - out.length));
    }
    return out;
  }

  #readAhead(limit: number): void {
    while (this.#ahead.length === 0) {
      const records = this.topic.from(this.#next, limit);
      if (records.length === 0) return;
      for (const record of records) {
        const { seq } = record;
        this.#next = seq + 1;
        if (!this.settled.has(seq)) this.#ahead.push(new LmdbDelivery(this, seq, record, 1, undefined, undefined));
      }
    }
  }

  #takeDueRetries(room: number): LmdbDelivery[] {
    const now = this.#deps.steady();
    if (this.#nextDue === undefined || (this.#nextDue > now && !this.skipsRetryDelays)) {
      if (this.#nextDue !== undefined) this.#deps.wakeAt(this, this.#nextDue);
      return [];
    }
    const out: LmdbDelivery[] = [];
    const start = retryKey(this.number, this.#takenDue, this.#takenSeq + 1);
    const end = this.skipsRetryDelays ? retryKey(this.number + 1, 0, 0) : retryKey(this.number, now + 1, 0);
    for (const { key, value } of this.#deps.retries.getRange({ start, end, limit: room })) {
      this.#takenDue = readSeq(key, 4);
      this.#takenSeq = readSeq(key, 12);
      const delivery = this.#retryAt(this.#takenDue, this.#takenSeq, value);
      if (delivery) out.push(delivery);
    }
    this.#nextDue = this.#peekDue();
    if (this.#nextDue !== undefined) this.#deps.wakeAt(this, Math.max(this.#nextDue, now));
    return out;
  }

  #retryAt(due: number, seq: number, value: Buffer | undefined): LmdbDelivery | undefined {
    if (value === undefined) return undefined;
    const { attempt, state } = decodeRetry(value);
    const record = this.topic.get(seq);
    this.#inHand.set(seq, due);
    if (record) return new LmdbDelivery(this, seq, record, attempt, state, due);
    // The record was expired or removed, so there is nothing to retry.
    void LmdbDelivery.ofGone(this, seq, attempt, state, due).ack();
    return undefined;
  }

  #peekDue(): number | undefined {
    const start = retryKey(this.number, this.#takenDue, this.#takenSeq + 1);
    const range = { start, end: retryKey(this.number + 1, 0, 0), limit: 1 };
    for (const key of this.#deps.retries.getKeys(range)) return readSeq(key, 4);
    return undefined;
  }

  /** Due time of a retry with this delay: always after the last retry taken. */
  dueIn(delayMs: number): number {
    return Math.max(this.#deps.steady() + Math.max(0, Math.floor(delayMs)), this.#takenDue + 1);
  }

  /** Call when the result of a retry is stored. */
  retrySettled({ seq, retryDue }: LmdbDelivery): void {
    if (this.#inHand.get(seq) === retryDue) this.#inHand.delete(seq);
  }

  /** Call when a retry is stored. */
  waits(due: number, seq: number): void {
    if (due < this.#takenDue || (due === this.#takenDue && seq <= this.#takenSeq)) {
      if (this.#inHand.get(seq) === due) return;
      const delivery = this.#retryAt(due, seq, this.#deps.retries.get(retryKey(this.number, due, seq)));
      if (delivery) this.#overtaken.push(delivery);
      this.wake();
      return;
    }
    if (this.#nextDue === undefined || due < this.#nextDue) this.#nextDue = due;
    if (this.skipsRetryDelays) this.wake();
    else if (this.consumers.size > 0) this.#deps.wakeAt(this, due);
  }

  failed(error: unknown): void {
    this.#deps.onError(error);
  }

  giveBack(deliveries: LmdbDelivery[]): void {
    if (deliveries.length === 0) return;
    this.#returned.push(...deliveries);
    this.#returned.sort((a, b) => a.seq - b.seq);
  }

  /** Number of waiting retries, including those in flight. */
  get retryCount(): number {
    if (this.#retryCount !== undefined) return this.#retryCount;
    const count = this.#deps.retries.getKeysCount({ start: retryKey(this.number, 0, 0), end: retryKey(this.number + 1, 0, 0) });
    // Retries of a running commit are already visible, and are counted again when it succeeds. So do not cache the count then.
    if (!this.touched) this.#retryCount = count;
    return count;
  }
  countRetries(difference: number): void {
    if (this.#retryCount !== undefined) this.#retryCount += difference;
  }
  forgetRetryCount(): void {
    this.#retryCount = undefined;
  }

  wake(): void {
    for (const consumer of this.consumers) consumer.wake();
  }
}

export function encodeRetry(attempt: number, time: number, state: unknown): Buffer {
  const json = state === undefined ? '' : JSON.stringify(state);
  const out = Buffer.allocUnsafe(12 + Buffer.byteLength(json));
  out.writeUInt32BE(attempt, 0);
  out.writeDoubleBE(time, 4);
  out.write(json, 12);
  return out;
}
export function decodeRetry(value: Buffer): { attempt: number; time: number; state: unknown } {
  const json = value.toString('utf8', 12);
  return { attempt: value.readUInt32BE(0), time: value.readDoubleBE(4), state: json === '' ? undefined : JSON.parse(json) };
}
