import type { NatsConnection } from '@nats-io/transport-node';
import {
  type Alongside,
  type Append,
  type AppendResult,
  type ConsumeOptions,
  type Consumer,
  type Delivery,
  type EventLog,
  LogUnavailable,
  type PackedRange,
  type PackedRecords,
  type ReadRange,
  type StoredRecord,
} from '../port.ts';
import { type JetStreamApi, orNone } from './api.ts';
import type { Appender } from './append.ts';
import type { Canary } from './canary.ts';
import { maxPayloadOf } from './connection.ts';
import { GroupConsumer } from './consumer.ts';
import type { CursorStore } from './cursor-store.ts';
import type { JetStreamDelivery } from './delivery.ts';
import type { DirectGet } from './direct-get.ts';
import type { Feeds } from './feeds.ts';
import type { Layout } from './names.ts';
import { packed } from './packed.ts';
import { createParts, type JetStreamLogSettings, type Parts } from './parts.ts';
import type { Reader } from './reader.ts';
import type { Streams } from './streams.ts';
import type { Upkeep } from './upkeep.ts';

const FLUSH_TIMEOUT_MS = 2_500;
const AGAIN_MS = 250;
/** Dead letters are announced on the broker subject of their topic. */
const ANNOUNCED = 'dlq-';

export class JetStreamLog implements EventLog {
  readonly atomic = false;
  readonly #connection: NatsConnection;
  readonly #settings: JetStreamLogSettings;
  readonly #layout: Layout;
  readonly #api: JetStreamApi;
  readonly #streams: Streams;
  readonly #publishers: Parts['publishers'];
  readonly #canary: Canary;
  readonly #appender: Appender;
  readonly #cursors: CursorStore;
  readonly #feeds: Feeds;
  readonly #reader: Reader;
  readonly #upkeep: Upkeep;
  readonly #shared: Parts['consumerDeps'];
  readonly #consumers = new Set<GroupConsumer>();
  /** The newest consumer of each group. */
  readonly #byGroup = new Map<string, GroupConsumer>();
  readonly #direct: DirectGet;
  #connected = true;
  #closed = false;

  constructor(settings: JetStreamLogSettings) {
    const parts = createParts(settings, {
      append: (appends) => this.append(appends),
      isClosed: () => this.#closed || settings.connection.isClosed(),
    });
    this.#settings = settings;
    this.#connection = settings.connection;
    this.#layout = parts.layout;
    this.#api = parts.api;
    this.#streams = parts.streams;
    this.#direct = parts.direct;
    this.#publishers = parts.publishers;
    this.#canary = parts.canary;
    this.#appender = parts.appender;
    this.#cursors = parts.cursors;
    this.#feeds = parts.feeds;
    this.#reader = parts.reader;
    this.#upkeep = parts.upkeep;
    this.#shared = parts.consumerDeps;
    void this.#followStatus();
  }

  get available(): boolean {
    return this.#connected && this.#canary.storing && !this.#closed;
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        this.#canary.doubt();
        for (const publisher of this.#publishers) publisher.rejectAll('the connection to NATS was lost');
      } else if (status.type === 'reconnect') {
        this.#connected = true;
        void this.#canary.check();
        this.#feeds.reconnected();
      }
    }
    this.#connected = false;
  }

  async append(appends: Append[]): Promise<AppendResult[]> {
    if (!this.#connected || this.#closed) throw new LogUnavailable('NATS is unavailable');
    const isLetter = ({ topic }: Append) => topic.startsWith(ANNOUNCED);
    const write = (one: Append) => this.#appender.append(one);
    // A dead letter first, then its outcome. A crash between them must not leave a trace without its letter.
    const letters = new Map<Append, AppendResult>();
    await Promise.all(appends.filter(isLetter).map(async (one) => letters.set(one, await write(one))));
    const results = await Promise.all(appends.map((one) => letters.get(one) ?? write(one)));
    for (const { topic, records } of letters.keys()) for (const { data } of records) this.#announce(topic, data);
    return results;
  }
  async prepare(families: readonly string[]): Promise<void> {
    await Promise.all(families.map((family) => this.#appender.prepare(family)));
  }
  /** The letter is stored, so a failure must not fail the append. */
  #announce(topic: string, data: Uint8Array): void {
    try {
      this.#connection.publish(topic, announcementOf(data, maxPayloadOf(this.#connection)));
    } catch (error) {
      this.#settings.onWarning?.('dead letter not announced on its NATS subject', error);
    }
  }

  async ackAll(deliveries: readonly Delivery[], { appends, derive, save }: Alongside = { appends: [] }): Promise<void> {
    const own = deliveries as readonly JetStreamDelivery[];
    for (const delivery of own) delivery.mayHaveResults = true;
    if (derive === undefined && save === undefined) return this.#settle(own, appends);
    const results = appends.length > 0 ? await this.append(appends) : [];
    await save?.();
    await this.#settle(own, derive?.(results) ?? []);
  }

  /** The appends travel with the settlement if they can. Else they are stored first. */
  async #settle(deliveries: readonly JetStreamDelivery[], appends: Append[]): Promise<void> {
    const byConsumer = Map.groupBy(deliveries, ({ settler }) => settler as GroupConsumer);
    const [consumer] = byConsumer.keys();
    if (consumer && byConsumer.size === 1 && this.#carries(consumer, deliveries, appends)) return consumer.settleAll(deliveries, appends);
    if (appends.length > 0) await this.append(appends);
    await Promise.all(Array.from(byConsumer, ([each, own]) => each.settleAll(own)));
  }
  /** Throws on a topic that cannot exist. */
  #carries(consumer: GroupConsumer, deliveries: readonly JetStreamDelivery[], appends: readonly Append[]): boolean {
    for (const { topic } of appends) this.#layout.placeOf(topic);
    return consumer.carries(deliveries, appends) && appends.every(({ topic }) => !topic.startsWith(ANNOUNCED));
  }

  consume(topic: string, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>): Consumer {
    const where = { topic, group };
    const consumer = new GroupConsumer(this.#layout.placeOf(topic), group, options, handle, {
      ...this.#shared,
      persist: (work) => this.#persist(work, where),
      onError: (error) => this.#settings.onError?.(error, where),
      onStopped: (stopped) => {
        this.#consumers.delete(stopped);
        if (this.#byGroup.get(keyOf(topic, group)) === stopped) this.#byGroup.delete(keyOf(topic, group));
      },
    });
    this.#consumers.add(consumer);
    this.#byGroup.set(keyOf(topic, group), consumer);
    return consumer;
  }

  async #persist<T>(work: () => Promise<T>, where: { topic: string; group: string }): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.#closed || this.#connection.isClosed()) throw new LogUnavailable('the log is closed', { cause: error });
        if (!(error instanceof LogUnavailable)) throw error;
        if (this.available) this.#settings.onError?.(error, where);
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  async *read(topic: string, range: ReadRange): AsyncIterable<StoredRecord> {
    for await (const records of this.#recordsOf(topic, range)) yield* records;
  }
  async *readPacked(topic: string, range: PackedRange): AsyncIterable<PackedRecords> {
    yield* packed(this.#recordsOf(topic, { ...range, reverse: true }));
  }
  /** Those of one message at a time. */
  async *#recordsOf(topic: string, range: ReadRange): AsyncIterable<StoredRecord[]> {
    const place = this.#layout.placeOf(topic);
    await this.#streams.ensure(place);
    yield* this.#reader.read(place, range);
  }

  async get(topic: string, position: string): Promise<StoredRecord | undefined> {
    const place = this.#layout.placeOf(topic);
    await this.#streams.ensure(place);
    return this.#reader.get(place, position);
  }

  getMany(topic: string, positions: readonly string[]): Promise<(StoredRecord | undefined)[]> {
    return Promise.all(positions.map((position) => this.get(topic, position)));
  }

  async remove(topic: string, group?: string): Promise<void> {
    const place = this.#layout.placeOf(topic);
    if (group !== undefined) return this.#upkeep.removeGroup(topic, group);
    await this.#upkeep.removeTopic(place);
    this.#feeds.clear(topic);
  }

  async expire(topic: string, before: Date, ignoring: string[] = []): Promise<number> {
    const place = this.#layout.placeOf(topic);
    await this.#streams.ensure(place);
    await this.#storeCursors(topic);
    const removed = await this.#upkeep.expire(place, before, ignoring);
    if (removed > 0) this.#feeds.clear(topic);
    return removed;
  }

  async erase(topic: string, positions: readonly string[]): Promise<string[]> {
    await Promise.all([this.#storeCursors(topic), this.#streams.ensureRetries()]);
    const left = await this.#upkeep.erase(this.#layout.placeOf(topic), positions);
    this.#feeds.clear(topic);
    return left;
  }

  /** What this process has settled shows in the stored cursors. */
  async #storeCursors(topic: string): Promise<void> {
    await Promise.all([...this.#consumers].filter((consumer) => consumer.topic === topic).map((consumer) => consumer.flush()));
  }

  async lag(topic: string, group: string): Promise<{ waiting: number; oldest: number | undefined }> {
    const place = this.#layout.placeOf(topic);
    await Promise.all([this.#streams.ensure(place), this.#streams.ensureRetries()]);
    const known = this.#byGroup.get(keyOf(topic, group))?.waiting;
    // What another process stored a moment ago may be on its way to this consumer.
    const more = known && (await this.#direct.leaderGet(place.stream, { seq: known.at + 1, next_by_subj: place.subject }));
    if (known && !more) return { waiting: known.waiting, oldest: known.oldest };
    return this.#upkeep.lag(place, group);
  }

  async groups(topic: string): Promise<string[]> {
    this.#refuseStaleLists();
    return this.#cursors.groups(topic);
  }

  /** A leader that lost the others answers for some seconds more. Its list may lack what a new leader has stored. */
  #refuseStaleLists(): void {
    if (!this.available) throw new LogUnavailable('NATS is unavailable');
  }

  async topics(prefix: string): Promise<string[]> {
    this.#refuseStaleLists();
    const names = new Set<string>();
    for (const { stream, before } of this.#layout.streamsOf(prefix)) {
      // With thousands of dead-letter topics in the stream, the server should list only the requested ones.
      const subjects_filter = prefix.endsWith('.') ? `${before}${prefix}>` : '>';
      const info = await orNone(this.#api.streamInfo(stream, { subjects_filter }));
      for (const subject of Object.keys(info?.state.subjects ?? {})) {
        const topic = subject.slice(before.length);
        if (topic.startsWith(prefix)) names.add(topic);
      }
    }
    return [...names].sort();
  }

  /** Leaves the connection open: its creator closes it. */
  async close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    if (this.#connected)
      await Promise.race([this.#connection.flush(), new Promise((resolve) => setTimeout(resolve, FLUSH_TIMEOUT_MS))]).catch(() => {});
    this.#closed = true;
    this.#settings.onClose?.();
    this.#canary.stop();
    this.#feeds.close();
    this.#appender.close();
    for (const publisher of this.#publishers) publisher.close();
  }
}

function keyOf(topic: string, group: string): string {
  return `${topic}\n${group}`;
}

/** In the log a letter is packed. As a message of its own a large one does not fit, and is announced with the head of its event. */
function announcementOf(data: Uint8Array, most: number): Uint8Array {
  if (data.length <= most) return data;
  const letter = JSON.parse(Buffer.from(data).toString()) as { event: Record<string, unknown> };
  const { event_id, type, event, anonymous_id, user_id, timestamp } = letter.event;
  return Buffer.from(JSON.stringify({ ...letter, event: { event_id, type, event, anonymous_id, user_id, timestamp, truncated: true } }));
}
