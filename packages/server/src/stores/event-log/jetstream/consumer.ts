import { setTimeout as sleep } from 'node:timers/promises';
import type { Append, ConsumeOptions, Consumer, Delivery } from '../port.ts';
import type { JetStreamDelivery, RetryRequest, Settler } from './delivery.ts';
import { Dispatcher } from './dispatcher.ts';
import type { Feeds } from './feeds.ts';
import { Intake } from './intake.ts';
import type { Place } from './names.ts';
import { HEADROOM } from './record-batch.ts';
import { MOST_BYTES, sizeOf } from './settlements.ts';
import { type OwnedGroup, Takeover, type TakeoverDeps } from './takeover.ts';
import type { TopicFeed } from './topic-feed.ts';

export interface ConsumerDeps extends TakeoverDeps {
  feeds: Feeds;
  /** Limits how many consumers start at the same time: thousands would flood the broker with requests. */
  startInTurn<T>(start: () => Promise<T>): Promise<T>;
  isClosed(): boolean;
  onStopped(consumer: GroupConsumer): void;
}

const BEGIN_AGAIN_MS = 250;
/** Longer than a process needs to notice that it has lost a lease. */
const FENCED_MS = 3_000;
const FLUSH_MS = 2_000;

class Stopped extends Error {}

/** One group's consumer in this process, from start to stop: takes the group over, hands out its records, settles them. */
export class GroupConsumer implements Consumer, Settler {
  readonly topic: string;
  readonly group: string;
  readonly #place: Place;
  readonly #options: ConsumeOptions;
  readonly #deps: ConsumerDeps;
  readonly #takeover: Takeover;
  readonly #dispatcher: Dispatcher;
  #feed: TopicFeed | undefined;
  #unlisten: (() => void) | undefined;
  /** The last one, while another consumer owns the group. */
  #owned: OwnedGroup | undefined;
  /** Undefined unless this consumer owns the group. */
  #intake: Intake | undefined;
  readonly started: Promise<void>;
  startError: unknown;
  /** The start, or the last one after the group was taken over. */
  #beginning: Promise<void>;
  #beginAgain: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(place: Place, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>, deps: ConsumerDeps) {
    this.topic = place.topic;
    this.group = group;
    this.#place = place;
    this.#options = options;
    this.#deps = deps;
    const { onError } = deps;
    this.#dispatcher = new Dispatcher({ options, handle, onRoom: () => this.#intake?.fill(), onError });
    this.#takeover = new Takeover(place.topic, group, options, deps, {
      isStopped: () => this.#stopped || deps.isClosed(),
      check: () => this.#check(),
      onFenced: () => this.#fenced(),
    });
    this.started = this.#begin();
    this.#beginning = this.started;
  }

  /** Retries after any error: a reader that gave up would leave its topic unread without anybody noticing. */
  async #begin(): Promise<void> {
    for (let first = true; !this.#stopped && !this.#deps.isClosed(); first = false) {
      if (!first) await sleep(BEGIN_AGAIN_MS);
      try {
        await this.#whileRunning(() => this.#beginOnce().catch((error: unknown) => this.#notStarted(error)));
        this.startError = undefined;
        break;
      } catch (error) {
        if (!this.#stopped) this.#deps.onError(error);
      }
    }
    this.#intake?.fill();
  }
  #notStarted(error: unknown): never {
    this.startError = error;
    throw error;
  }
  /** Retries while the broker is unavailable and the consumer is not stopped. */
  #whileRunning<T>(work: () => Promise<T>): Promise<T> {
    return this.#deps.persist(() => {
      this.#check();
      return work();
    });
  }
  #check(): void {
    if (this.#stopped) throw new Stopped();
  }

  async #beginOnce(): Promise<void> {
    const { feeds, startInTurn, onError } = this.#deps;
    // Not in turn: topics that open at the same time share what follows their stream.
    const opening = feeds.open(this.#place).then((feed) => this.#listen(feed));
    // Awaited by the takeover, which may fail before.
    opening.catch(() => {});
    const owned = await startInTurn(() => this.#takeover.run(this.#place, opening));
    this.#owned = owned;
    // `stop` cannot stop an intake that it does not know: it may have been called between two steps of the takeover.
    this.#check();
    this.#intake = new Intake(owned, {
      dispatcher: this.#dispatcher,
      settler: this,
      options: this.#options,
      persist: (work) => this.#whileRunning(work),
      onError,
    });
  }

  #listen(feed: TopicFeed): TopicFeed {
    if (this.#stopped) {
      this.#deps.feeds.release(feed);
      throw new Stopped();
    }
    this.#feed = feed;
    this.#unlisten?.();
    this.#unlisten = feed.listen(() => this.#intake?.fill());
    return feed;
  }

  /** Another consumer owns the group. If this process still should, nobody else does, and it takes the group back. */
  #fenced(): void {
    if (this.#stopped) return;
    this.#deps.onError(new Error(`group ${this.group} of ${this.topic} was taken over by another process`));
    void this.#intake?.stop();
    this.#intake = undefined;
    this.#dispatcher.clear();
    this.#owned?.reader.close();
    this.#beginAgain = setTimeout(() => {
      this.#beginning = this.#begin();
    }, FENCED_MS).unref();
  }

  async settle(delivery: JetStreamDelivery, retry: RetryRequest | undefined, alongside: Append[]): Promise<void> {
    const { append, persist } = this.#deps;
    const owned = this.#owned;
    // Store the appends first, then settle. Record ids make a repeat harmless.
    if (alongside.length > 0) await persist(() => append(alongside));
    if (retry && owned) {
      // A consumer that was frozen and replaced leaves the record to its successor, which has it, or has settled it.
      if (!(await persist(() => owned.settlements.isOwned()))) return;
      await persist(() => owned.retries.add(delivery.record, delivery.attempt + 1, retry));
      this.#intake?.waitForRetries();
    }
    await this.#settled([delivery]);
  }

  /** Whether the appends can travel in the journal with the settlement of these deliveries. */
  carries(deliveries: readonly JetStreamDelivery[], appends: readonly Append[]): boolean {
    const most = this.#deps.maxPayload() - HEADROOM;
    return (
      sizeOf(appends) <= Math.min(MOST_BYTES, most) && deliveries.every(({ origin, isSettling }) => origin.kind === 'topic' && !isSettling)
    );
  }

  /** Settles many at once, with `appends` if `carries` says so. */
  settleAll(deliveries: readonly JetStreamDelivery[], appends: readonly Append[] = []): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const open = deliveries.filter((delivery) => delivery.claim(promise));
    this.#settled(open, appends).then(resolve, reject);
    return promise;
  }

  async #settled(deliveries: readonly JetStreamDelivery[], appends: readonly Append[] = []): Promise<void> {
    const records: { seq: number; index: number }[] = [];
    const retried: number[] = [];
    for (const { origin } of deliveries)
      if (origin.kind === 'topic') records.push(origin);
      else retried.push(origin.seq);
    const { persist } = this.#deps;
    const owned = this.#owned;
    await Promise.all([
      records.length > 0 ? owned?.settlements.settle(records, appends) : undefined,
      ...retried.map((seq) => persist(async () => owned?.retries.settled(seq))),
    ]);
    this.#dispatcher.settled(deliveries);
  }

  /** Stores the cursor now if it lags behind. */
  async flush(): Promise<void> {
    await this.#owned?.settlements.flush();
  }

  async #leave(): Promise<void> {
    if (this.#options.ordered && !this.#dispatcher.mayHaveResults) await this.#owned?.settlements.leave();
    else await this.flush();
  }

  /** What waits, as this consumer knows it; undefined while it does not know the end of the topic. */
  get waiting(): { waiting: number; oldest: number | undefined; at: number } | undefined {
    if (this.#stopped || !this.#intake || !this.#owned) return undefined;
    const { reader, settlements, retries } = this.#owned;
    if (!reader.isLive || settlements.reopened.length > 0) return undefined;
    const { backlog } = reader;
    const { unstored } = settlements;
    const times = [settlements.open.oldest, unstored.oldest, retries.oldest, backlog[0]?.time].filter((time) => time !== undefined);
    const waiting = settlements.open.records + unstored.records + retries.size + backlog.reduce((sum, { count }) => sum + count, 0);
    return { waiting, oldest: times.length === 0 ? undefined : Math.min(...times), at: backlog.at(-1)?.seq ?? reader.at };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#dispatcher.stop();
    clearTimeout(this.#beginAgain);
    this.#unlisten?.();
    // While the broker is away, neither may end.
    const ended = Promise.all([this.#beginning, this.#dispatcher.running, this.#intake?.stop()]);
    await Promise.race([ended, sleep(FLUSH_MS, undefined, { ref: false })]);
    await this.#dispatcher.running;
    // What cannot be stored now is in the journal.
    const flushed = this.#leave().catch((error: unknown) => this.#deps.onError(error));
    await Promise.race([flushed, sleep(FLUSH_MS, undefined, { ref: false })]);
    this.#unlisten?.();
    this.#owned?.reader.close();
    if (this.#feed) this.#deps.feeds.release(this.#feed);
    this.#deps.onStopped(this);
  }
}
