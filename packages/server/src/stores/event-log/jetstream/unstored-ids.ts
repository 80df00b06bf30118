/** The ids of a stored message: 8 bytes of hash each, as in its header. */
export interface MessageIds {
  seq: number;
  /** Milliseconds since 1970. */
  time: number;
  hashes: Buffer;
}
/** All messages of a topic from sequence `from` to before `to`. */
export interface IdSummary {
  /** When the stream was created: sequences begin again with a new one. Milliseconds since 1970. */
  created: number;
  from: number;
  to: number;
  messages: MessageIds[];
}

const VERSION = 1;
const HEAD_BYTES = 19;
const MESSAGE_BYTES = 14;

/** A summary is stored at once for this many messages or bytes. */
const MOST_MESSAGES = 1_000;
const MOST_BYTES = 131_072;
/** Fewer messages are not worth one: a successor reads their headers. It bounds the cost of summaries to 1 % of the messages. */
const LEAST_MESSAGES = 100;
/** While the broker takes none. Beyond that the oldest are dropped, and a successor reads their headers. */
const MOST_WAITING_BYTES = 8 * MOST_BYTES;
/** Rounds without an attempt, after another process has stored a summary, and after a failure. */
const ROUNDS_AFTER_OTHER = 3;
const ROUNDS_AFTER_FAILURE = 1;

/** Ids of messages that a topic's reader has seen since the last stored summary. */
export class UnstoredIds {
  #created = 0;
  #from: number | undefined;
  #messages: MessageIds[] = [];
  #bytes = 0;
  #due = false;
  #paused = 0;
  /** Of the last stored summary; 0 if there is none. */
  revision = 0;

  /** Call when everything before `from` is known. `earlier`: messages from there to the first one that was added. */
  begin({ created, from, earlier, revision }: { created: number; from: number; earlier: readonly MessageIds[]; revision: number }): void {
    this.#created = created;
    this.#from = from;
    this.#messages = [...earlier, ...this.#messages];
    this.#bytes = bytesOf(this.#messages);
    this.revision = revision;
  }

  add({ seq, time, hashes }: MessageIds): void {
    this.#messages.push({ seq, time, hashes });
    this.#bytes += MESSAGE_BYTES + hashes.length;
    if (this.#bytes > MOST_WAITING_BYTES && this.#from !== undefined) this.#drop(seq);
  }

  /** True if a summary should be stored at once. */
  get isFull(): boolean {
    return this.#from !== undefined && this.#paused === 0 && (this.#messages.length >= MOST_MESSAGES || this.#bytes >= MOST_BYTES);
  }
  /** Call every few seconds. True if a summary should be stored. */
  round(): boolean {
    if (this.#paused > 0 && --this.#paused > 0) return false;
    this.#due = this.#from !== undefined && this.#messages.length >= LEAST_MESSAGES;
    return this.#due;
  }

  /** The next summary to store; undefined if nothing is due. */
  next(): IdSummary | undefined {
    if (this.#from === undefined || this.#messages.length === 0 || (!this.#due && !this.isFull)) return undefined;
    const messages: MessageIds[] = [];
    let bytes = 0;
    for (const message of this.#messages) {
      bytes += MESSAGE_BYTES + message.hashes.length;
      if (messages.length > 0 && (messages.length >= MOST_MESSAGES || bytes > MOST_BYTES)) break;
      messages.push(message);
    }
    return { created: this.#created, from: this.#from, to: (messages.at(-1)?.seq ?? 0) + 1, messages };
  }
  stored(to: number, revision: number): void {
    this.#drop(to);
    this.revision = revision;
    if (this.#messages.length < LEAST_MESSAGES) this.#due = false;
  }
  /** Another process has stored a summary. What it holds is left out if it names a message as this process knows it. */
  storedByOther(other: { to: number; last: MessageIds } | undefined, revision: number): void {
    const isKnown = this.#messages.some(({ seq, time }) => seq === other?.last.seq && time === other.last.time);
    this.stored(isKnown && other ? other.to : 0, revision);
    this.#due = false;
    this.#paused = ROUNDS_AFTER_OTHER;
  }
  failed(): void {
    this.#due = false;
    this.#paused = ROUNDS_AFTER_FAILURE;
  }
  #drop(before: number): void {
    this.#messages = this.#messages.filter(({ seq }) => seq >= before);
    this.#bytes = bytesOf(this.#messages);
    this.#from = Math.max(this.#from ?? 0, before);
  }
}

function bytesOf(messages: readonly MessageIds[]): number {
  return messages.reduce((sum, { hashes }) => sum + MESSAGE_BYTES + hashes.length, 0);
}

/** Version, creation of the stream, both ends, then of each message: sequence, time, number of hashes, hashes. */
export function encodeSummary({ created, from, to, messages }: IdSummary): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt8(VERSION);
  for (const [i, value] of [created, from, to].entries()) head.writeUIntBE(value, 1 + 6 * i, 6);
  const parts: Buffer[] = [head];
  for (const { seq, time, hashes } of messages) {
    const start = Buffer.allocUnsafe(MESSAGE_BYTES);
    start.writeUIntBE(seq, 0, 6);
    start.writeUIntBE(time, 6, 6);
    start.writeUInt16BE(hashes.length / 8, 12);
    parts.push(start, hashes);
  }
  return Buffer.concat(parts);
}
/** A stored summary. Its messages are decoded as they are visited: a window has hundreds of thousands. */
export interface StoredSummary extends Omit<IdSummary, 'messages'> {
  first: MessageIds;
  last: MessageIds;
  ids: number;
  visit(visit: (ids: MessageIds) => void): void;
}
/** Undefined if it is not a whole summary, or one of a later version. */
export function decodeSummary(data: Uint8Array): StoredSummary | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  if (bytes.length < HEAD_BYTES || bytes.readUInt8() !== VERSION) return undefined;
  const [created, from, to] = [bytes.readUIntBE(1, 6), bytes.readUIntBE(7, 6), bytes.readUIntBE(13, 6)];
  let [last, count, end] = [HEAD_BYTES, 0, HEAD_BYTES];
  for (; end + MESSAGE_BYTES <= bytes.length; count++) {
    last = end;
    end = endOf(bytes, end);
  }
  if (count === 0 || end !== bytes.length || messageAt(bytes, last).seq !== to - 1) return undefined;
  return {
    ...{ created, from, to, first: messageAt(bytes, HEAD_BYTES), last: messageAt(bytes, last) },
    ids: (bytes.length - HEAD_BYTES - count * MESSAGE_BYTES) / 8,
    visit(visit) {
      for (let at = HEAD_BYTES; at < bytes.length; at = endOf(bytes, at)) visit(messageAt(bytes, at));
    },
  };
}
function endOf(bytes: Buffer, at: number): number {
  return at + MESSAGE_BYTES + bytes.readUInt16BE(at + 12) * 8;
}
function messageAt(bytes: Buffer, at: number): MessageIds {
  return { seq: bytes.readUIntBE(at, 6), time: bytes.readUIntBE(at + 6, 6), hashes: bytes.subarray(at + MESSAGE_BYTES, endOf(bytes, at)) };
}
