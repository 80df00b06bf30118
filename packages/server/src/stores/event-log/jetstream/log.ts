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
  type PackedRecords,
  type ReadRange,
  type StoredRecord,
} from '../port.ts';
import { JetStreamApi, orNone } from './api.ts';
import { Appender } from './append.ts';
import { Canary } from './canary.ts';
import { type ConsumerDeps, GroupConsumer } from './consumer.ts';
import { CursorStore } from './cursor-store.ts';
import type { JetStreamDelivery } from './delivery.ts';
import { DirectGet } from './direct-get.ts';
import { Feeds } from './feeds.ts';
import { IdSummaries } from './id-summaries.ts';
import { inTurn } from './in-turn.ts';
import { Journal } from './journal.ts';
import { CANARY_STREAM, CANARY_SUBJECT, Layout } from './names.ts';
import { packed } from './packed.ts';
import { Patches } from './patches.ts';
import { NoStream, Publisher } from './publisher.ts';
import { Reader } from './reader.ts';
import { IdScanner } from './scan-ids.ts';
import { Streams } from './streams.ts';
import { Ticks } from './ticks.ts';
import { Upkeep } from './upkeep.ts';

export interface JetStreamLogSettings {
  connection: NatsConnection;
  dedupWindowMs: number;
  replicas: number;
  streams: number;
  clock: Clock;
  onClose?: () => void;
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
  onWarning?: (message: string, error?: unknown) => void;
}

const PUBLISH_TIMEOUT_MS = 2_000;
/** Without the journal the cursor is stored at once, so a broker that hangs must not hold settlements up for long. */
const JOURNAL_TIMEOUT_MS = 700;
/** Nothing waits for a summary of ids. */
const ID_TIMEOUT_MS = 10_000;
/** How late stored cursors and the appends before them may be. The journal has them. */
const CURSOR_TICK_MS = 200;
/** The same under load, where the results of a record that comes again are dropped. */
const BUSY_TICK_MS = 1_000;
/** The same where the consumer skips what comes again. */
const LATE_TICK_MS = 2_000;
const API_TIMEOUT_MS = 2_500;
const FLUSH_TIMEOUT_MS = 2_500;
const AGAIN_MS = 250;
const STARTS_AT_ONCE = 64;
const DEFAULT_MAX_PAYLOAD = 1_048_576;
/** Dead letters are announced on the broker subject of their topic. */
const ANNOUNCED = 'dlq-';

export class JetStreamLog implements EventLog {
  readonly atomic = false;
  readonly #connection: NatsConnection;
  readonly #settings: JetStreamLogSettings;
  readonly #layout: Layout;
  readonly #api: JetStreamApi;
  readonly #streams: Streams;
  readonly #publisher: Publisher;
  readonly #publishers: readonly Publisher[];
  readonly #canary: Canary;
  readonly #appender: Appender;
  readonly #cursors: CursorStore;
  readonly #feeds: Feeds;
  readonly #reader: Reader;
  readonly #upkeep: Upkeep;
  readonly #shared: Omit<ConsumerDeps, 'persist' | 'onError' | 'onStopped'>;
  readonly #consumers = new Set<GroupConsumer>();
  /** The newest consumer of each group. */
  readonly #byGroup = new Map<string, GroupConsumer>();
  readonly #direct: DirectGet;
  #connected = true;
  #closed = false;

  constructor(settings: JetStreamLogSettings) {
    this.#settings = settings;
    const { clock, connection, dedupWindowMs: windowMs, replicas } = settings;
    this.#connection = connection;
    // Wall time at start, monotonic clock afterwards: a clock jump does not move retries.
    const offset = clock.now() - clock.monotonic();
    const now = () => Math.floor(offset + clock.monotonic());
    const maxPayload = () => connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD;
    const layout = new Layout(settings.streams);
    const api = new JetStreamApi(connection, API_TIMEOUT_MS);
    const streams = new Streams(api, replicas);
    const publisher = new Publisher(connection, PUBLISH_TIMEOUT_MS, (stored) => this.#canary.heard(stored));
    const scanner = new IdScanner(api, connection);
    const direct = new DirectGet(connection, api);
    const patches = new Patches({ api, direct, publisher, streams, maxPayload });
    const cursors = new CursorStore({ api, layout, streams, publisher });
    const onWarning = (message: string, error: unknown) => settings.onWarning?.(message, error);
    const journalPublisher = new Publisher(connection, JOURNAL_TIMEOUT_MS, () => {});
    const journal = new Journal({
      api,
      layout,
      streams,
      direct,
      publisher: journalPublisher,
      monotonic: () => clock.monotonic(),
      onWarning,
    });
    const onError = (error: unknown) => settings.onError?.(error, { topic: '', group: '' });
    const idPublisher = new Publisher(connection, ID_TIMEOUT_MS, () => {});
    const summaries = new IdSummaries({ streams, direct, scanner, publisher: idPublisher, windowMs });
    const feeds = new Feeds({ connection, api, streams, summaries, direct, windowMs, now, onError, onWarning });
    this.#layout = layout;
    this.#direct = direct;
    this.#api = api;
    this.#streams = streams;
    this.#publisher = publisher;
    this.#publishers = [publisher, journalPublisher, idPublisher];
    this.#cursors = cursors;
    this.#feeds = feeds;
    this.#reader = new Reader(direct, patches);
    this.#upkeep = new Upkeep({ api, cursors, direct, journal, patches, reader: this.#reader });
    this.#appender = new Appender({ connection, layout, streams, publisher, scanner, windowMs, now });
    this.#canary = new Canary({ write: () => this.#writeCanary(), monotonic: () => clock.monotonic() });
    const isClosed = () => this.#closed || connection.isClosed();
    const append = (appends: Append[]) => this.append(appends);
    const refreshIds = () => this.#appender.refreshIds();
    const startInTurn = inTurn(STARTS_AT_ONCE);
    this.#shared = {
      startInTurn,
      refreshIds,
      api,
      streams,
      direct,
      publisher,
      summaries,
      patches,
      cursors,
      journal,
      ticks: {
        seen: new Ticks(CURSOR_TICK_MS),
        dropped: new Ticks(CURSOR_TICK_MS, BUSY_TICK_MS),
        skipped: new Ticks(LATE_TICK_MS),
      },
      feeds,
      windowMs,
      now,
      maxPayload,
      isClosed,
      append,
    };
    void this.#followStatus();
  }

  get available(): boolean {
    return this.#connected && this.#canary.storing && !this.#closed;
  }

  async #writeCanary(): Promise<void> {
    await this.#streams.ensureCanary();
    await this.#publisher.publish(CANARY_SUBJECT, new Uint8Array(), undefined).catch((error: unknown) => {
      if (error instanceof NoStream) this.#streams.forget(CANARY_STREAM);
      throw error;
    });
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
      this.#connection.publish(topic, data);
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
  async *readPacked(topic: string, range: Pick<ReadRange, 'to' | 'limit'>): AsyncIterable<PackedRecords> {
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
