import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../../../runtime/clock.ts';
import {
  type Alongside,
  type Append,
  type AppendResult,
  type ConsumeOptions,
  type Consumer,
  type Delivery,
  type EventLog,
  LogUnavailable,
  type ReadRange,
  type StoredRecord,
} from '../port.ts';
import { isGone, isTemporary, JetStreamApi, orNone, type StreamInfo } from './api.ts';
import { Canary } from './canary.ts';
import { JetStreamConsumer } from './consumer.ts';
import { Durables } from './durables.ts';
import {
  CANARY_STREAM,
  CANARY_SUBJECT,
  encodeId,
  OWN_STREAMS,
  placeOf,
  positionOf,
  RETRY_STREAM,
  retrySubject,
  streamsOf,
} from './names.ts';
import { NoStream, Publisher } from './publisher.ts';
import { Reader } from './reader.ts';
import { Streams } from './streams.ts';

export interface JetStreamLogSettings {
  connection: NatsConnection;
  dedupWindowMs: number;
  replicas: number;
  clock: Clock;
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
}

const PUBLISH_TIMEOUT_MS = 2_000;
const API_TIMEOUT_MS = 2_500;
const FLUSH_TIMEOUT_MS = 2_500;
const AGAIN_MS = 250;

export class JetStreamLog implements EventLog {
  readonly atomic = false;
  readonly #connection: NatsConnection;
  readonly #api: JetStreamApi;
  readonly #streams: Streams;
  readonly #durables: Durables;
  readonly #publisher: Publisher;
  readonly #reader: Reader;
  readonly #canary: Canary;
  readonly #settings: JetStreamLogSettings;
  readonly #consumers = new Set<JetStreamConsumer>();
  /** Wall time at start, monotonic clock afterwards: a clock jump does not move retries. */
  readonly #timeOffset: number;
  #connected = true;
  #closed = false;
  #flushing: Promise<void> | undefined;

  constructor(settings: JetStreamLogSettings) {
    this.#settings = settings;
    this.#connection = settings.connection;
    this.#timeOffset = settings.clock.now() - settings.clock.monotonic();
    this.#api = new JetStreamApi(settings.connection, API_TIMEOUT_MS);
    this.#streams = new Streams(this.#api, settings);
    this.#durables = new Durables(this.#api, this.#streams);
    this.#publisher = new Publisher(settings.connection, PUBLISH_TIMEOUT_MS, (stored) => this.#canary.heard(stored));
    this.#canary = new Canary({
      write: async () => {
        await this.#streams.ensureCanary();
        await this.#publisher.publish(CANARY_SUBJECT, new Uint8Array(), undefined).catch((error: unknown) => {
          if (error instanceof NoStream) this.#streams.forget(CANARY_STREAM);
          throw error;
        });
      },
      monotonic: () => settings.clock.monotonic(),
    });
    this.#reader = new Reader(this.#api, settings.connection, API_TIMEOUT_MS);
    void this.#followStatus();
  }

  get available(): boolean {
    return this.#connected && this.#canary.storing && !this.#closed;
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        this.#publisher.rejectAll('the connection to NATS was lost');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        void this.#canary.check();
        for (const consumer of this.#consumers) consumer.reconnected();
      }
    }
    this.#connected = false;
  }

  async append(appends: Append[]): Promise<AppendResult[]> {
    if (!this.#connected || this.#closed) throw new LogUnavailable('NATS is unavailable');
    return Promise.all(appends.map((one) => this.#appendOne(one)));
  }

  async #appendOne({ topic, records }: Append): Promise<AppendResult> {
    try {
      const place = await this.#streams.ensure(topic);
      const acks = await Promise.all(records.map((record) => this.#publisher.publish(place.subject, record.data, encodeId(record.id))));
      return { positions: acks.map((ack) => (ack.duplicate ? undefined : positionOf(ack.seq))) };
    } catch (error) {
      if (error instanceof NoStream) this.#streams.forget(placeOf(topic).stream);
      if (isTemporary(error) && !(error instanceof LogUnavailable)) throw new LogUnavailable((error as Error).message, { cause: error });
      throw error;
    }
  }

  async ackAll(deliveries: readonly Delivery[], { appends, derive, save }: Alongside = { appends: [] }): Promise<void> {
    const results = appends.length > 0 ? await this.append(appends) : [];
    await Promise.all([derive && this.append(derive(results)), save?.()]);
    await Promise.all(deliveries.map((delivery) => delivery.ack()));
  }

  consume(topic: string, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>): Consumer {
    placeOf(topic);
    const consumer = new JetStreamConsumer(topic, group, options, handle, {
      connection: this.#connection,
      durables: this.#durables,
      now: () => Math.floor(this.#timeOffset + this.#settings.clock.monotonic()),
      append: (appends) => this.append(appends),
      publish: (subject, data, id, headers) => this.#publisher.publish(subject, data, id, headers),
      persist: (work) => this.#persist(work, { topic, group }),
      flushed: () => this.#flushed(),
      onError: (error) => this.#settings.onError?.(error, { topic, group }),
      onStopped: (stopped) => this.#consumers.delete(stopped),
    });
    this.#consumers.add(consumer);
    return consumer;
  }

  async #persist<T>(work: () => Promise<T>, where: { topic: string; group: string }): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.#closed || this.#connection.isClosed()) throw new LogUnavailable('the log is closed', { cause: error });
        if (!isTemporary(error)) throw error;
        if (this.available) this.#settings.onError?.(error, where);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  /** Shares one flush round trip among all acknowledgements of the same moment. */
  #flushed(): Promise<void> {
    this.#flushing ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#flushing = undefined;
        const late = setTimeout(() => reject(new LogUnavailable('NATS does not answer')), FLUSH_TIMEOUT_MS);
        this.#connection
          .flush()
          .then(resolve, (error) => reject(new LogUnavailable('the connection to NATS was lost', { cause: error })))
          .finally(() => clearTimeout(late));
      });
    });
    return this.#flushing;
  }

  async *read(topic: string, range: ReadRange): AsyncIterable<StoredRecord> {
    yield* this.#reader.read(placeOf(topic), range);
  }

  async get(topic: string, position: string): Promise<StoredRecord | undefined> {
    return this.#reader.get(placeOf(topic), Number(position));
  }

  async remove(topic: string, group?: string): Promise<void> {
    if (group !== undefined) return this.#durables.remove(topic, group);
    const place = placeOf(topic);
    for (const known of await this.#streams.groups(topic)) await this.#durables.remove(topic, known.group);
    if (place.subjects === place.subject) {
      await orNone(this.#api.call(`STREAM.DELETE.${place.stream}`));
      this.#streams.forget(place.stream);
    } else await orNone(this.#api.call(`STREAM.PURGE.${place.stream}`, { filter: place.subject }));
  }

  async expire(topic: string, before: Date, ignoring: string[] = []): Promise<number> {
    const place = placeOf(topic);
    let end = await this.#firstUnsettled(topic, ignoring);
    const first = await this.#reader.firstAt(place, before.getTime());
    if (first) end = Math.min(end, Number(first.position));
    const info = await orNone(this.#api.call<StreamInfo>(`STREAM.INFO.${place.stream}`));
    if (!info) return 0;
    end = Math.min(end, info.state.last_seq + 1);
    if (end <= info.state.first_seq) return 0;
    const purged = await this.#api.call<{ purged: number }>(`STREAM.PURGE.${place.stream}`, { filter: place.subject, seq: end });
    return purged.purged;
  }

  async erase(topic: string, positions: readonly string[]): Promise<string[]> {
    const { stream } = placeOf(topic);
    const end = await this.#firstUnsettled(topic, []);
    const left = positions.filter((position) => Number(position) >= end);
    for (const position of positions) {
      if (Number(position) >= end) continue;
      try {
        // The server overwrites the message unless told not to.
        await this.#api.call(`STREAM.MSG.DELETE.${stream}`, { seq: Number(position) });
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
    return left;
  }
  /** Every group has settled the records before this sequence. */
  async #firstUnsettled(topic: string, ignoring: readonly string[]): Promise<number> {
    let end = Number.POSITIVE_INFINITY;
    for (const { group, info } of await this.#streams.groups(topic)) {
      if (ignoring.includes(group)) continue;
      // With nothing pending, everything delivered so far is settled, whatever the ack floor says.
      if (info.num_pending === 0 && info.num_ack_pending === 0) end = Math.min(end, info.delivered.stream_seq + 1);
      else end = Math.min(end, info.ack_floor.stream_seq + 1);
    }
    return end;
  }

  async lag(topic: string, group: string): Promise<{ waiting: number; oldest: number | undefined }> {
    const place = placeOf(topic);
    const info = await this.#durables.info(topic, group);
    if (!info) return { waiting: 0, oldest: undefined };
    const own = info.num_pending + info.num_ack_pending;
    const retries = await this.#durables.retriesInfo(topic, group);
    const waitingRetries = (retries?.num_pending ?? 0) + (retries?.num_ack_pending ?? 0);
    let oldest = own > 0 ? await this.#reader.timeFrom(place, info.ack_floor.stream_seq + 1) : undefined;
    if (waitingRetries > 0) {
      const retry = { stream: RETRY_STREAM, subjects: 'firsthand-retry.>', subject: retrySubject(topic, group) };
      const first = await this.#reader.timeFrom(retry, 1);
      if (first !== undefined) oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, first);
    }
    return { waiting: own + waitingRetries, oldest };
  }

  async groups(topic: string): Promise<string[]> {
    this.#streams.groupsChanged(topic);
    return [...new Set((await this.#streams.groups(topic)).map(({ group }) => group))];
  }

  async topics(prefix: string): Promise<string[]> {
    const names = new Set<string>();
    const streams = await this.#streamNames();
    for (const stream of streams.filter((name) => !OWN_STREAMS.has(name) && streamsOf(prefix).some((start) => name.startsWith(start)))) {
      const info = await orNone(this.#api.call<StreamInfo>(`STREAM.INFO.${stream}`, { subjects_filter: '>' }));
      for (const subject of Object.keys(info?.state.subjects ?? {})) if (subject.startsWith(prefix)) names.add(subject);
    }
    return [...names].sort();
  }

  async #streamNames(): Promise<string[]> {
    const names: string[] = [];
    for (;;) {
      const page = await this.#api.call<{ total: number; streams: string[] | null }>('STREAM.NAMES', { offset: names.length });
      if (!page.streams || page.streams.length === 0) return names;
      names.push(...page.streams);
      if (names.length >= page.total) return names;
    }
  }

  /** Leaves the connection open: its creator closes it. */
  async close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    if (this.#connected)
      await Promise.race([this.#connection.flush(), new Promise((resolve) => setTimeout(resolve, FLUSH_TIMEOUT_MS))]).catch(() => {});
    this.#closed = true;
    this.#canary.stop();
    this.#publisher.close();
  }
}
