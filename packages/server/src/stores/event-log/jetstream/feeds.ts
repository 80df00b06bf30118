import type { NatsConnection } from '@nats-io/transport-node';
import { inTurn } from '../../../runtime/in-turn.ts';
import type { JetStreamApi } from './api.ts';
import type { DirectGet } from './direct-get.ts';
import type { IdSummaries } from './id-summaries.ts';
import type { Message } from './message.ts';
import type { Place } from './names.ts';
import type { Streams } from './streams.ts';
import { Tail } from './tail.ts';
import { type Cached, TopicFeed } from './topic-feed.ts';

export interface FeedsDeps {
  connection: NatsConnection;
  api: JetStreamApi;
  streams: Streams;
  summaries: IdSummaries;
  direct: DirectGet;
  windowMs: number;
  now(): number;
  onError(error: unknown): void;
  onWarning(message: string, error: unknown): void;
}

const WATCH_MS = 500;
const SUMMARISE_MS = 5_000;
/** Topics whose ids are read at the same time. */
const LOADS_AT_ONCE = 64;
/** As many messages are read as they are. More are not worth their bodies. */
const FEW_MESSAGES = 16;
const FEW_BYTES = 65_536;
/** Bytes of recent messages over all topics. */
const MOST_BYTES = 32 * 1_048_576;

/** The feeds of the topics that this process reads. */
export class Feeds {
  readonly #deps: FeedsDeps;
  readonly #tails = new Map<string, Tail>();
  readonly #feeds = new Map<string, { feed: TopicFeed; loaded: Promise<void> }>();
  readonly #loadInTurn = inTurn(LOADS_AT_ONCE);
  /** In the order of arrival, to free the oldest first. Entries without a message are freed already. */
  #order: Cached[] = [];
  #live = 0;
  #bytes = 0;
  /** One timer for all tails: an idle process should not wake up for each of them. */
  #watch: NodeJS.Timeout | undefined;
  #summarisedAt = 0;
  readonly #summarising = new Set<TopicFeed>();
  #isFailing = false;

  constructor(deps: FeedsDeps) {
    this.#deps = deps;
  }

  /** Resolves when the feed covers the end of its topic and knows the ids before it. Call `listen` on it before the next turn. */
  async open(place: Place): Promise<TopicFeed> {
    await this.#deps.streams.ensure(place);
    let open = this.#feeds.get(place.topic);
    if (!open) {
      const feed = new TopicFeed(place, this.#deps.windowMs, (cached) => this.#freed(cached));
      open = { feed, loaded: this.#load(feed) };
      this.#feeds.set(place.topic, open);
      this.#tailOf(place.stream).add(feed);
      open.loaded.catch(() => this.#forget(feed));
    }
    await open.loaded;
    return open.feed;
  }

  async #load(feed: TopicFeed): Promise<void> {
    await feed.ready;
    await this.#loadInTurn(() => this.#readIds(feed));
  }
  async #readIds(feed: TopicFeed): Promise<void> {
    const { direct, summaries, windowMs, now } = this.#deps;
    const { place, created, coveredFrom = 1 } = feed;
    const { stream, subject } = place;
    // Most topics of a large installation are idle. A scan creates a consumer, which all brokers agree on; these questions ask one.
    const last = await direct.leaderGet(stream, { last_by_subj: subject });
    const range = { created, since: now() - windowMs, untilSeq: coveredFrom, lastSeq: last?.seq ?? 0 };
    const isIdle = last === undefined || last.time < range.since || (await this.#noteFew(feed, range.since, last.seq));
    const known = isIdle ? undefined : await summaries.read(place, range, (ids) => feed.note(ids));
    const { from = coveredFrom, messages: earlier = [], revision = 0 } = known ?? {};
    feed.unstored.begin({ created, from, earlier, revision });
  }

  /** False if the topic has more messages than a few, or the broker that answers does not know the last one yet. */
  async #noteFew(feed: TopicFeed, since: number, lastSeq: number): Promise<boolean> {
    const { stream, subject } = feed.place;
    const start_time = new Date(since).toISOString();
    const request = { start_time, next_by_subj: subject, batch: FEW_MESSAGES, max_bytes: FEW_BYTES };
    const { messages, pending } = await this.#deps.direct.batch(stream, request);
    for (const message of messages) feed.note(message);
    return pending === 0 && (messages.at(-1)?.seq ?? 0) >= lastSeq;
  }

  #tailOf(stream: string): Tail {
    let tail = this.#tails.get(stream);
    if (!tail) {
      const { connection, api, onError } = this.#deps;
      tail = new Tail(stream, { connection, api, onError, onMessage: (feed, message) => this.#push(feed, message) });
      this.#tails.set(stream, tail);
      this.#watch ??= setInterval(() => this.#look(), WATCH_MS).unref();
    }
    return tail;
  }

  #look(): void {
    for (const tail of this.#tails.values()) tail.watch();
    if (performance.now() < this.#summarisedAt + SUMMARISE_MS) return;
    this.#summarisedAt = performance.now();
    for (const { feed } of this.#feeds.values()) if (feed.unstored.round()) this.#summarise(feed);
  }
  /** A failure costs a takeover time, nothing else. */
  #summarise(feed: TopicFeed): void {
    if (this.#summarising.has(feed)) return;
    this.#summarising.add(feed);
    this.#deps.summaries
      .store(feed.place.topic, feed.unstored)
      .then(() => {
        this.#isFailing = false;
      })
      .catch((error: unknown) => {
        if (!this.#isFailing) this.#deps.onWarning('ids of events not summarised, the next takeover may take longer', error);
        this.#isFailing = true;
      })
      .finally(() => this.#summarising.delete(feed));
  }

  #push(feed: TopicFeed, message: Message): void {
    if (!feed.wants(message)) return;
    const cached: Cached = { feed, size: message.size, message };
    this.#order.push(cached);
    this.#live++;
    this.#bytes += cached.size;
    feed.push(message, cached);
    if (feed.unstored.isFull) this.#summarise(feed);
    if (this.#bytes > MOST_BYTES)
      for (const oldest of this.#order) {
        if (this.#bytes <= MOST_BYTES) break;
        if (oldest.message !== undefined) oldest.feed.drop(oldest);
      }
    if (this.#order.length > 1_000 && this.#order.length > this.#live * 2)
      this.#order = this.#order.filter((one) => one.message !== undefined);
  }
  #freed(cached: Cached): void {
    if (cached.message === undefined) return;
    cached.message = undefined;
    this.#live--;
    this.#bytes -= cached.size;
  }

  /** Closes the feed if no group reads it. */
  release(feed: TopicFeed): void {
    if (!feed.isUsed) this.#forget(feed);
  }
  #forget(feed: TopicFeed): void {
    if (this.#feeds.get(feed.place.topic)?.feed === feed) this.#feeds.delete(feed.place.topic);
    feed.clear();
    this.#tails.get(feed.place.stream)?.remove(feed);
  }

  /** Records of the topic were removed from the stream. */
  clear(topic: string): void {
    this.#feeds.get(topic)?.feed.clear();
  }
  /** Messages in transit are lost with a connection. */
  reconnected(): void {
    for (const tail of this.#tails.values()) tail.restart();
  }
  close(): void {
    clearInterval(this.#watch);
    for (const tail of this.#tails.values()) tail.close();
  }
}
