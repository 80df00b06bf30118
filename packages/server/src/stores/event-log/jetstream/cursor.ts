/**
 * What a group has settled: everything up to `high`, except the records in `open`. A few bytes, however many records wait behind it, because
 * `open` holds only records in flight.
 */
export interface CursorState {
  /** Of the consumer that wrote it. A consumer whose token was replaced has lost the group. */
  owner: string;
  high: number;
  /** A message that is open as a whole, or the places in its batch that are. */
  open: [seq: number, ...indexes: number[]][];
  /** Records appended before this time do not belong to the group. Milliseconds since 1970. */
  since?: number;
  /** Where the next consumer reads the journal on. Entries behind `seq` count if they are of `owner`, or behind a later mark. */
  journal?: JournalPlace;
  /** Which stored retries the next consumer counts. All of them if undefined. */
  retries?: RetryOwners;
  /** The owner, once it has stopped and left no result of a record that is not settled. Another token says nothing about the owner. */
  left?: string;
}
/** Retries behind `seq` count if one of these consumers has stored them. */
export interface RetryOwners {
  seq: number;
  owners: string[];
}
export interface JournalPlace {
  owner: string;
  seq: number;
}

export function encodeCursor(state: CursorState): Buffer {
  return Buffer.from(JSON.stringify(state));
}
export function decodeCursor(data: Uint8Array): CursorState {
  return JSON.parse(Buffer.from(data).toString()) as CursorState;
}
export function isSettled({ high, open }: CursorState, seq: number, index: number): boolean {
  if (seq > high) return false;
  const message = open.find(([at]) => at === seq);
  return message === undefined || (message.length > 1 && !message.includes(index, 1));
}

/** The first record that the group has not settled. */
export function firstOpen({ high, open }: CursorState): { seq: number; index: number } {
  let first = { seq: high + 1, index: 0 };
  for (const [seq, index = 0] of open) if (seq < first.seq) first = { seq, index };
  return first;
}

/** The unsettled records of one message. */
export class OpenMessage {
  readonly seq: number;
  readonly time: number;
  readonly #settled: Uint8Array;
  left: number;

  constructor(seq: number, time: number, count: number) {
    this.seq = seq;
    this.time = time;
    this.#settled = new Uint8Array(count);
    this.left = count;
  }
  /** False if it was settled before. */
  settle(index: number): boolean {
    if (this.#settled[index] !== 0) return false;
    this.#settled[index] = 1;
    this.left--;
    return true;
  }
  get isUntouched(): boolean {
    return this.left === this.#settled.length;
  }
  get openIndexes(): number[] {
    const open: number[] = [];
    for (const [index, settled] of this.#settled.entries()) if (settled === 0) open.push(index);
    return open;
  }
}

/** The messages that a consumer has read and not settled completely. */
export class OpenMessages {
  readonly #messages = new Map<number, OpenMessage>();
  #read: number;
  /** The last message of which a record is settled. */
  #settled: number;
  records = 0;

  constructor(high: number) {
    this.#read = high;
    this.#settled = high;
  }

  add(message: OpenMessage): void {
    this.#read = Math.max(this.#read, message.seq);
    if (!message.isUntouched) this.#settled = Math.max(this.#settled, message.seq);
    if (message.left === 0) return;
    this.#messages.set(message.seq, message);
    this.records += message.left;
  }
  /** Returns when the record was appended; undefined if it was settled before. */
  settle(seq: number, index: number): number | undefined {
    const message = this.#messages.get(seq);
    if (!message?.settle(index)) return undefined;
    this.records--;
    this.#settled = Math.max(this.#settled, seq);
    if (message.left === 0) this.#messages.delete(seq);
    return message.time;
  }
  /** The last message read. */
  get read(): number {
    return this.#read;
  }
  /** Nothing before this sequence is left to read. */
  passed(seq: number): void {
    this.#read = Math.max(this.#read, seq);
  }
  get oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { time } of this.#messages.values()) oldest = Math.min(oldest ?? time, time);
    return oldest;
  }

  /** `reopened`: messages of the stored cursor that were not read again yet; none is behind `high`. */
  state(owner: string, reopened: CursorState['open'], more: Omit<CursorState, 'owner' | 'high' | 'open'>): CursorState {
    const messages = [...this.#messages.values()].sort((a, b) => a.seq - b.seq);
    // The messages behind the last settled one need not be named.
    const named = messages.filter(({ seq }) => seq <= this.#settled);
    const rest = messages[named.length];
    const high = rest === undefined ? this.#read : rest.seq - 1;
    const open = named.map((message): [number, ...number[]] =>
      message.isUntouched ? [message.seq] : [message.seq, ...message.openIndexes],
    );
    return { owner, high, open: [...reopened, ...open], ...more };
  }
}
