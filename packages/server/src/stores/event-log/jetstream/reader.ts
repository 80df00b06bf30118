import { createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { LogUnavailable, type ReadRange, type StoredRecord } from '../port.ts';
import { isNotFound, type JetStreamApi, orNone, type StreamInfo } from './api.ts';
import { RECORD_TIME } from './delivery.ts';
import { decodeId, type Place, positionOf } from './names.ts';
import { ENCODING, unpack } from './packing.ts';

const CHUNK = 256;
const FIRST_WINDOW = 512;

interface StoredMessage {
  subject: string;
  seq: number;
  hdrs?: string;
  data?: string;
  time: string;
}

/** Reads a topic without a group: by position or time, in both directions. */
export class Reader {
  readonly #api: JetStreamApi;
  readonly #connection: NatsConnection;
  readonly #timeoutMs: number;

  constructor(api: JetStreamApi, connection: NatsConnection, timeoutMs: number) {
    this.#api = api;
    this.#connection = connection;
    this.#timeoutMs = timeoutMs;
  }

  async get(place: Place, seq: number): Promise<StoredRecord | undefined> {
    if (!Number.isSafeInteger(seq) || seq < 1) return undefined;
    const found = await orNone(this.#api.call<{ message: StoredMessage }>(`STREAM.MSG.GET.${place.stream}`, { seq }));
    return found && found.message.subject === place.subject ? fromStored(found.message) : undefined;
  }

  /** The first record of the topic at or after `time`, if any. */
  async firstAt(place: Place, time: number): Promise<StoredRecord | undefined> {
    for await (const record of this.#forward(place, { opt_start_time: new Date(time).toISOString(), deliver_policy: 'by_start_time' }, 1))
      return record;
    return undefined;
  }

  /** The time of the first record of the topic at or after a sequence. For a waiting retry, the time of its original record. */
  async timeFrom(place: Place, seq: number): Promise<number | undefined> {
    const body = { seq, next_by_subj: place.subject };
    const found = await orNone(this.#api.call<{ message: StoredMessage }>(`STREAM.MSG.GET.${place.stream}`, body));
    if (!found) return undefined;
    const ofRecord = headerOf(found.message, RECORD_TIME);
    return ofRecord === undefined ? Date.parse(found.message.time) : Number(ofRecord);
  }

  async *read(place: Place, range: ReadRange): AsyncIterable<StoredRecord> {
    const from = range.from?.getTime() ?? Number.NEGATIVE_INFINITY;
    const to = range.to?.getTime() ?? Number.POSITIVE_INFINITY;
    if (range.reverse) return yield* this.#backward(place, from, to, range);
    const after = range.after === undefined ? undefined : Number(range.after) + 1;
    const start =
      range.from && after === undefined
        ? { deliver_policy: 'by_start_time', opt_start_time: range.from.toISOString() }
        : fromSeq(after ?? 1);
    let left = range.limit;
    if (left <= 0) return;
    for await (const record of this.#forward(place, start, left)) {
      if (record.time >= to) return;
      if (record.time < from) continue;
      yield record;
      if (--left === 0) return;
    }
  }

  /** The server reads forward only. So this reads windows from the end to the beginning, and doubles the width after a sparse window. */
  async *#backward(place: Place, from: number, to: number, range: ReadRange): AsyncIterable<StoredRecord> {
    const info = await orNone(this.#api.call<StreamInfo>(`STREAM.INFO.${place.stream}`));
    if (!info) return;
    let end = Math.min(info.state.last_seq, range.after === undefined ? Number.POSITIVE_INFINITY : Number(range.after) - 1);
    if (Number.isFinite(to)) {
      const first = await this.firstAt(place, to);
      if (first) end = Math.min(end, Number(first.position) - 1);
    }
    let left = range.limit;
    let window = Math.max(FIRST_WINDOW, left * 2);
    while (end >= info.state.first_seq && left > 0) {
      const start = Math.max(info.state.first_seq, end - window + 1);
      const found: StoredRecord[] = [];
      for await (const record of this.#forward(place, fromSeq(start), end - start + 1)) {
        if (Number(record.position) > end) break;
        found.push(record);
        // Keep only the newest.
        if (found.length > left) found.shift();
      }
      for (const record of found.reverse()) {
        if (record.time < from) return;
        if (record.time >= to) continue;
        yield record;
        if (--left === 0) return;
      }
      end = start - 1;
      if (found.length < left) window *= 4;
    }
  }

  async *#forward(place: Place, start: Record<string, unknown>, limit: number): AsyncIterable<StoredRecord> {
    let consumer: { name: string; num_pending: number };
    try {
      consumer = await this.#api.call<{ name: string; num_pending: number }>(`CONSUMER.CREATE.${place.stream}`, {
        stream_name: place.stream,
        config: {
          ...start,
          filter_subject: place.subject,
          ack_policy: 'none',
          replay_policy: 'instant',
          inactive_threshold: 30_000_000_000,
          mem_storage: true,
          num_replicas: 1,
        },
      });
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    const next = `$JS.API.CONSUMER.MSG.NEXT.${place.stream}.${consumer.name}`;
    let left = Math.min(limit, consumer.num_pending);
    try {
      while (left > 0) {
        const chunk = await this.#fetch(next, Math.min(CHUNK, left));
        if (chunk.length === 0) return;
        left -= chunk.length;
        yield* chunk;
      }
    } finally {
      await this.#api.call(`CONSUMER.DELETE.${place.stream}.${consumer.name}`).catch((error: unknown) => {
        // The server removes the consumer by itself after thirty seconds.
        if (!isNotFound(error) && !(error instanceof LogUnavailable)) throw error;
      });
    }
  }

  #fetch(next: string, batch: number): Promise<StoredRecord[]> {
    return new Promise((resolve, reject) => {
      const records: StoredRecord[] = [];
      const inbox = createInbox();
      const finish = (error?: Error) => {
        clearTimeout(late);
        subscription.unsubscribe();
        if (error) reject(error);
        else resolve(records);
      };
      const late = setTimeout(() => finish(new LogUnavailable('JetStream does not answer')), this.#timeoutMs);
      const subscription = this.#connection.subscribe(inbox, {
        callback: (error, msg) => {
          if (error) return finish(new LogUnavailable(error.message, { cause: error }));
          if (msg.headers?.code) return msg.headers.code === 503 ? finish(new LogUnavailable('JetStream does not answer')) : finish();
          records.push(fromPulled(msg));
          if (records.length === batch) finish();
        },
      });
      this.#connection.publish(next, JSON.stringify({ batch, no_wait: true }), { reply: inbox });
    });
  }
}

function fromSeq(seq: number): Record<string, unknown> {
  return { deliver_policy: 'by_start_sequence', opt_start_seq: Math.max(1, seq) };
}
function fromPulled(msg: Msg): StoredRecord {
  const parts = msg.reply!.split('.');
  const at = parts.length >= 11 ? 7 : 5;
  return {
    id: decodeId(msg.headers?.get('Nats-Msg-Id') ?? ''),
    data: unpack(msg.data, msg.headers?.get(ENCODING)),
    position: positionOf(Number(parts[at])),
    time: Math.floor(Number(parts[at + 2]) / 1_000_000),
  };
}
function fromStored(message: StoredMessage): StoredRecord {
  const id = headerOf(message, 'Nats-Msg-Id') ?? '';
  return {
    id: decodeId(id),
    data: unpack(Buffer.from(message.data ?? '', 'base64'), headerOf(message, ENCODING)),
    position: positionOf(message.seq),
    time: Date.parse(message.time),
  };
}
function headerOf(message: StoredMessage, name: string): string | undefined {
  for (const line of Buffer.from(message.hdrs ?? '', 'base64')
    .toString('utf8')
    .split('\r\n'))
    if (line.startsWith(`${name}:`)) return line.slice(name.length + 1).trim();
  return undefined;
}
