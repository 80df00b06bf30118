import type { StoredRecord } from '../port.ts';
import { isGone, type JetStreamApi } from './api.ts';
import type { RetryOwners } from './cursor.ts';
import type { RetryRequest } from './delivery.ts';
import type { DirectGet } from './direct-get.ts';
import type { Message } from './message.ts';
import { decodeText, encodeText, RETRY_STREAM, retrySubject } from './names.ts';
import type { Publisher } from './publisher.ts';
import { encodeBatch, packRecord } from './record-batch.ts';
import type { Streams } from './streams.ts';

const POSITION = 'Fh-Position';
const RECORD_TIME = 'Fh-Record-Time';
const ATTEMPT = 'Fh-Attempt';
const STATE = 'Fh-State';
const DUE = 'Fh-Due';
const DELAY = 'Fh-Delay';
const OWNER = 'Fh-Owner';
const CHUNK = 250;
/** NATS refuses headers of more than 64 KB. A longer state is a second record of the message. */
const MOST_IN_HEADER = 8_192;
const STATE_RECORD = 'state';

export interface RetryDeps {
  api: JetStreamApi;
  streams: Streams;
  direct: DirectGet;
  publisher: Publisher;
  maxPayload(): number;
  now(): number;
}
export interface LoadOptions {
  /** Of the stored cursor. */
  counted: RetryOwners | undefined;
  /** Whether the last consumer has settled the record. */
  isSettled(position: string): boolean;
}
/** A waiting retry. Its record stays on the broker until it is due. */
interface Waiting {
  seq: number;
  due: number;
  position: string;
  attempt: number;
  recordTime: number;
}
export interface DueRetry {
  seq: number;
  record: StoredRecord;
  attempt: number;
  state: unknown;
}

/**
 * The waiting retries of one group: one message each, which is deleted when the retry is settled. Only the group's consumer writes them, so
 * after the start its own memory says what waits.
 */
export class RetryQueue {
  readonly #deps: RetryDeps;
  readonly #name: string;
  readonly #subject: string;
  readonly #owner: string;
  readonly #skipDelays: boolean;
  /** Sorted by due time. */
  #waiting: Waiting[] = [];
  /** Handed out, not settled. */
  readonly #out = new Map<number, Waiting>();

  /** `owner`: the consumer's token, as in the cursor. */
  constructor(topic: string, group: string, owner: string, skipDelays: boolean, deps: RetryDeps) {
    this.#deps = deps;
    this.#owner = owner;
    this.#name = `${topic}~${group}`;
    this.#subject = retrySubject(topic, group);
    this.#skipDelays = skipDelays;
  }

  /** Reads the stored retries. Returns the positions of their records, and the last sequence. */
  async load({ counted, isSettled }: LoadOptions): Promise<{ positions: Set<string>; upTo: number }> {
    const { direct, streams } = this.#deps;
    await streams.ensureRetries();
    const newest = new Map<string, Waiting>();
    const dropped: number[] = [];
    let upTo = counted?.seq ?? 0;
    for await (const message of allRetries(direct, this.#subject)) {
      upTo = Math.max(upTo, message.seq);
      const waiting = this.#waitingOf(message);
      const owner = message.header(OWNER);
      // A consumer that was frozen and replaced has stored the first retry of a record that its successor has settled. Only the first: with
      // a later one it may have deleted the retry before, which the successor knew.
      const isLate = counted !== undefined && message.seq > counted.seq && owner !== '' && !counted.owners.includes(owner);
      if (isLate && waiting.attempt === 2 && isSettled(waiting.position)) {
        dropped.push(message.seq);
        continue;
      }
      // A crash between storing the next attempt and deleting this one leaves both.
      const other = newest.get(waiting.position);
      if (other) dropped.push(other.seq);
      newest.set(waiting.position, waiting);
    }
    for (const waiting of newest.values()) this.#insert(waiting);
    for (const seq of dropped) await this.#delete(seq);
    return { positions: new Set(newest.keys()), upTo };
  }

  get size(): number {
    return this.#waiting.length + this.#out.size;
  }
  /** When the oldest retried record was appended. */
  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { recordTime } of [...this.#waiting, ...this.#out.values()]) oldest = Math.min(oldest ?? recordTime, recordTime);
    return oldest;
  }
  /** Milliseconds until the next retry is due, if any waits. */
  nextIn(): number | undefined {
    const [first] = this.#waiting;
    return first && Math.max(0, first.due - this.#deps.now());
  }

  /** Takes the retries that are due. Call `settled` or `putBack` for each. */
  async takeDue(limit: number): Promise<DueRetry[]> {
    const now = this.#deps.now();
    let count = 0;
    while (count < limit && (this.#waiting[count]?.due ?? Number.POSITIVE_INFINITY) <= now) count++;
    const due = this.#waiting.splice(0, count);
    for (const waiting of due) this.#out.set(waiting.seq, waiting);
    try {
      const found = await Promise.all(due.map(({ seq }) => this.#deps.direct.get(RETRY_STREAM, seq)));
      for (const [i, message] of found.entries()) if (!message) this.#out.delete(due[i]?.seq ?? 0);
      return found.flatMap((message) => (message ? [retryOf(message)] : []));
    } catch (error) {
      for (const { seq } of due) this.putBack(seq);
      throw error;
    }
  }
  putBack(seq: number): void {
    const waiting = this.#out.get(seq);
    if (!waiting) return;
    this.#out.delete(seq);
    this.#insert(waiting);
  }
  /** Resolves when the retry is deleted from the broker. */
  async settled(seq: number): Promise<void> {
    await this.#delete(seq);
    this.#out.delete(seq);
  }

  /** Stores the next attempt of a record. Throws `RecordTooLarge` where the record and the state together never fit. */
  async add(record: StoredRecord, attempt: number, { delayMs, state }: RetryRequest): Promise<void> {
    const delay = Math.max(0, Math.floor(delayMs));
    const due = this.#deps.now() + delay;
    const json = state === undefined ? '' : JSON.stringify(state);
    const inHeader = encodeText(json);
    const fits = inHeader.length <= MOST_IN_HEADER;
    const records = fits ? [record] : [record, { id: STATE_RECORD, data: Buffer.from(json) }];
    const { data, headers: meta } = encodeBatch(records.map(packRecord), this.#deps.maxPayload());
    meta.set('Nats-Msg-Id', encodeText(`${this.#name}~${this.#owner}~${record.position}~${attempt}`));
    meta.set(OWNER, this.#owner);
    meta.set(POSITION, record.position);
    meta.set(RECORD_TIME, String(record.time));
    meta.set(ATTEMPT, String(attempt));
    meta.set(DUE, String(due));
    meta.set(DELAY, String(delay));
    if (fits && json !== '') meta.set(STATE, inHeader);
    const { seq, duplicate } = await this.#deps.publisher.publish(this.#subject, data, meta);
    if (duplicate && (this.#out.has(seq) || this.#waiting.some((waiting) => waiting.seq === seq))) return;
    this.#insert({ seq, due: this.#skipDelays ? 0 : due, position: record.position, attempt, recordTime: record.time });
  }

  #insert(waiting: Waiting): void {
    let [from, to] = [0, this.#waiting.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#waiting[middle]?.due ?? 0) <= waiting.due) from = middle + 1;
      else to = middle;
    }
    this.#waiting.splice(from, 0, waiting);
  }
  #waitingOf(message: Message): Waiting {
    // Never longer than the requested delay, even if the clock of the process that stored it was wrong.
    const due = Math.min(Number(message.header(DUE)), this.#deps.now() + Number(message.header(DELAY)));
    return {
      seq: message.seq,
      due: this.#skipDelays ? 0 : due,
      position: message.header(POSITION),
      attempt: Number(message.header(ATTEMPT)),
      recordTime: Number(message.header(RECORD_TIME)),
    };
  }
  async #delete(seq: number): Promise<void> {
    try {
      await this.#deps.api.call(`STREAM.MSG.DELETE.${RETRY_STREAM}`, { seq, no_erase: true });
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

function retryOf(message: Message): DueRetry {
  const [record, stored] = message.records;
  const state = stored === undefined ? decodeText(message.header(STATE)) : Buffer.from(stored.data).toString('utf8');
  return {
    seq: message.seq,
    record: {
      id: record?.id ?? '',
      data: record?.data ?? new Uint8Array(),
      position: message.header(POSITION),
      time: Number(message.header(RECORD_TIME)),
    },
    attempt: Number(message.header(ATTEMPT)),
    state: state === '' ? undefined : JSON.parse(state),
  };
}

/** The stored retries of a group: their number, the time of the oldest record, and the positions. */
export async function storedRetries(
  direct: DirectGet,
  topic: string,
  group: string,
): Promise<{ count: number; oldest: number | undefined; positions: Set<string> }> {
  let [count, oldest]: [number, number | undefined] = [0, undefined];
  const positions = new Set<string>();
  for await (const message of allRetries(direct, retrySubject(topic, group))) {
    count++;
    positions.add(message.header(POSITION));
    oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, Number(message.header(RECORD_TIME)));
  }
  return { count, oldest, positions };
}

async function* allRetries(direct: DirectGet, subject: string): AsyncIterable<Message> {
  for (let seq = 1; ; ) {
    const page = await direct.batch(RETRY_STREAM, { seq, next_by_subj: subject, batch: CHUNK });
    for (const message of page.messages) {
      yield message;
      seq = message.seq + 1;
    }
    if (page.messages.length > 0 && page.pending > 0) continue;
    // A replica that lags has not seen all of them: the leader decides.
    const more = await direct.leaderGet(RETRY_STREAM, { seq, next_by_subj: subject });
    if (more === undefined) return;
    yield more;
    seq = more.seq + 1;
  }
}
