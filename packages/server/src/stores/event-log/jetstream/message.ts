import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import type { LogRecord, StoredRecord } from '../port.ts';
import { positionOf } from './position.ts';
import { decodeBatch, hashesOf } from './record-batch.ts';

/** In a patch: the places in the batch of the records that are left, and the message that it replaces. */
export const PATCH_INDEXES = 'Fh-Indexes';
export const PATCH_SEQ = 'Fh-Seq';
export const PATCH_TIME = 'Fh-Time';

/** A record in its batch. Many are never asked for their position. */
class BatchRecord implements StoredRecord {
  readonly id: string;
  readonly data: Uint8Array;
  readonly #message: Message;
  readonly #index: number;

  constructor({ id, data }: LogRecord, message: Message, index: number) {
    this.id = id;
    this.data = data;
    this.#message = message;
    this.#index = index;
  }
  get position(): string {
    return positionOf(this.#message.seq, this.#index);
  }
  get time(): number {
    return this.#message.time;
  }
}

/** A stored batch. Its records are decoded on first use and shared by all readers. */
export class Message {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly subject: string;
  readonly size: number;
  readonly #headers: MsgHdrs | undefined;
  #data: Uint8Array;
  #records: readonly (StoredRecord | undefined)[] | undefined;
  #hashes: Buffer | undefined;

  constructor(fields: { seq: number; time: number; subject: string; headers: MsgHdrs | undefined; data: Uint8Array }) {
    this.seq = fields.seq;
    this.time = fields.time;
    this.subject = fields.subject;
    this.#headers = fields.headers;
    this.#data = fields.data;
    this.size = fields.data.length + 500;
  }

  /** The number of stored records. */
  get count(): number {
    return this.hashes.length / 8;
  }
  /** 8 bytes per record. */
  get hashes(): Buffer {
    this.#hashes ??= hashesOf(this.#headers);
    return this.#hashes;
  }
  /** By place in the batch; undefined where a record was erased. */
  get records(): readonly (StoredRecord | undefined)[] {
    if (this.#records === undefined) {
      const placed = place(decodeBatch(this.#data, this.#headers), this.#headers?.get(PATCH_INDEXES));
      this.#records = placed.map((record, index) => record && new BatchRecord(record, this, index));
      this.#data = new Uint8Array();
    }
    return this.#records;
  }
  /** The stored bytes. Call before `records`. */
  get data(): Uint8Array {
    return this.#data;
  }
  record(index: number): StoredRecord | undefined {
    return this.records[index];
  }
  /** The same content at another place. */
  at(place: { seq: number; time: number; subject: string }): Message {
    return new Message({ ...place, headers: this.#headers, data: this.#data });
  }
  get isPatch(): boolean {
    return this.header(PATCH_SEQ) !== '';
  }
  header(name: string): string {
    return this.#headers?.get(name) ?? '';
  }
}

function place(records: LogRecord[], indexes: string | undefined): (LogRecord | undefined)[] {
  if (!indexes) return records;
  const placed: (LogRecord | undefined)[] = [];
  for (const [i, index] of indexes.split(',').entries()) placed[Number(index)] = records[i];
  return Array.from(placed);
}

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<ns>.<pending>`. Since 2.10, domain and account precede the stream. */
export function ackInfo(msg: Msg): { seq: number; consumerSeq: number; time: number } | undefined {
  const parts = (msg.reply ?? '').split('.');
  if (parts[0] !== '$JS' || parts[1] !== 'ACK') return undefined;
  const at = parts.length >= 11 ? 7 : 5;
  return { seq: Number(parts[at]), consumerSeq: Number(parts[at + 1]), time: Math.floor(Number(parts[at + 2]) / 1_000_000) };
}

export function fromConsumer(msg: Msg): { message: Message; consumerSeq: number } | undefined {
  const info = ackInfo(msg);
  if (!info) return undefined;
  return { message: new Message({ ...info, subject: msg.subject, headers: msg.headers, data: msg.data }), consumerSeq: info.consumerSeq };
}

export function fromDirectGet(msg: Msg): Message {
  const header = (name: string) => msg.headers?.get(name) ?? '';
  return new Message({
    seq: Number(header('Nats-Sequence')),
    time: Date.parse(header('Nats-Time-Stamp')),
    subject: header('Nats-Subject'),
    headers: msg.headers,
    data: msg.data,
  });
}

/** The remaining records of a batch, at the position of the message that it replaces. */
export function fromPatch(patch: Message, subject: string): Message {
  return patch.at({ seq: Number(patch.header(PATCH_SEQ)), time: Number(patch.header(PATCH_TIME)), subject });
}
