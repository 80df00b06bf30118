import { setTimeout as sleep } from 'node:timers/promises';
import type { Append, ConsumeOptions, Consumer, Delivery } from '../port.ts';
import { type CursorState, isSettled, OpenMessage } from './cursor.ts';
import type { Cursor, CursorStore } from './cursor-store.ts';
import { JetStreamDelivery, type RetryRequest, type Settler } from './delivery.ts';
import type { Feeds } from './feeds.ts';
import { GroupReader, type GroupReaderDeps } from './group-reader.ts';
import type { Journal } from './journal.ts';
import type { Message } from './message.ts';
import type { Place } from './names.ts';
import { type Position, parsePosition, positionOf } from './position.ts';
import { HEADROOM } from './record-batch.ts';
import { type RetryDeps, RetryQueue } from './retry-queue.ts';
import { MOST_BYTES, Settlements, sizeOf, type TakenOver } from './settlements.ts';
import { startOf } from './start-position.ts';
import type { Ticks } from './ticks.ts';
import type { TopicFeed } from './topic-feed.ts';

export interface ConsumerDeps extends GroupReaderDeps, RetryDeps {
  feeds: Feeds;
  cursors: CursorStore;
  journal: Journal;
  ticks: Ticks;
  append(appends: Append[]): Promise<unknown>;
  /** Limits how many consumers start at the same time: thousands would flood the broker with requests. */
  startInTurn<T>(start: () => Promise<T>): Promise<T>;
  /** Learns the ids that other processes have stored. */
  refreshIds(): Promise<void>;
  /** Retries `work` while the broker is unavailable. Rejects when the log is closed, or with an error that a retry cannot fix. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  isClosed(): boolean;
  onError(error: unknown): void;
  onStopped(consumer: GroupConsumer): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const BEGIN_AGAIN_MS = 250;
/** Longer than a process needs to notice that it has lost a lease. */
const FENCED_MS = 3_000;
const MOST_DUE = 64;
const FLUSH_MS = 2_000;
/** The stored cursor of a group that has nothing to settle itself may be this much behind. */
const ADVANCE_MS = 1_000;

/** Each start adds an owner whose retries count, until the cursor is stored. */
const MOST_OWNERS = 8;

class Stopped extends Error {}

/** One group's reader in this process: hands out records and stores their settlements. */
export class GroupConsumer implements Consumer, Settler {
  readonly topic: string;
  readonly group: string;
  readonly #place: Place;
  readonly #options: ConsumeOptions;
  readonly #handle: (batch: Delivery[]) => Promise<void>;
  readonly #deps: ConsumerDeps;
  #feed: TopicFeed | undefined;
  #unlisten: (() => void) | undefined;
  #reader: GroupReader | undefined;
  #settlements: Settlements | undefined;
  #retries: RetryQueue | undefined;
  #since = 0;
  /** Read, not yet handed out. */
  #queue: JetStreamDelivery[] = [];
  /** Handed out, not yet settled. */
  readonly #out = new Set<JetStreamDelivery>();
  readonly started: Promise<void>;
  startError: unknown;
  /** The start, or the last one after the group was taken over. */
  #beginning: Promise<void>;
  #beginAgain: NodeJS.Timeout | undefined;
  #filling: Promise<void> | undefined;
  #fillAgain = false;
  #running: Promise<void> | undefined;
  #pause: NodeJS.Timeout | undefined;
  #pauseMs = 0;
  #due: NodeJS.Timeout | undefined;
  #advance: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(place: Place, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>, deps: ConsumerDeps) {
    this.topic = place.topic;
    this.group = group;
    this.#place = place;
    this.#options = options;
    this.#handle = handle;
    this.#deps = deps;
    this.started = this.#begin();
    this.#beginning = this.started;
  }

  /** Retries after any error: a reader that gave up would leave its topic unread without anybody noticing. */
  async #begin(): Promise<void> {
    for (let first = true; !this.#stopped && !this.#deps.isClosed(); first = false) {
      if (!first) await sleep(BEGIN_AGAIN_MS);
      try {
        await this.#whileRunning(() => this.#deps.startInTurn(() => this.#beginOnce()).catch((error: unknown) => this.#notStarted(error)));
        this.startError = undefined;
        break;
      } catch (error) {
        if (!this.#stopped) this.#deps.onError(error);
      }
    }
    this.#fill();
  }
  #notStarted(error: unknown): never {
    this.startError = error;
    throw error;
  }
  /** Retries while the broker is unavailable and the consumer is not stopped. */
  #whileRunning<T>(work: () => Promise<T>): Promise<T> {
    return this.#deps.persist(() => {
      if (this.#stopped) throw new Stopped();
      return work();
    });
  }

  async #beginOnce(): Promise<void> {
    const { cursors, feeds } = this.#deps;
    const feed = await feeds.open(this.#place);
    if (this.#stopped) {
      feeds.release(feed);
      throw new Stopped();
    }
    this.#feed = feed;
    this.#unlisten?.();
    this.#unlisten = feed.listen(() => this.#fill());
    const { cursor, state, isNew } = await cursors.claim(
      this.topic,
      this.group,
      () => startOf(this.#options.start, this.#place, this.#deps.direct),
      // A consumer that was stopped meanwhile must not take the group from its successor.
      () => {
        if (this.#stopped) throw new Stopped();
      },
    );
    const mark = isNew ? 0 : await this.#deps.journal.mark(this.topic, this.group, cursor.owner);
    const journaled = isNew ? new Set<string>() : await this.#readJournal(state, mark);
    const retries = new RetryQueue(this.topic, this.group, cursor.owner, this.#options.skipRetryDelays === true, this.#deps);
    const retried = await retries.load({
      counted: state.retries,
      isSettled: (position) => {
        const at = parsePosition(position);
        return journaled.has(position) || (at !== undefined && isSettled(state, at.seq, at.index));
      },
    });
    // Its last consumer may have died after it stored results and before it settled their records.
    if (this.#options.ordered && !isNew) await this.#deps.refreshIds();
    if (this.#stopped) throw new Stopped();
    this.#since = state.since ?? 0;
    this.#retries = retries;
    this.#reader?.close();
    this.#reader = new GroupReader(feed, state.high, this.#deps);
    this.#settlements = this.#settlementsOf(cursor, state, { mark, upTo: this.#journaledUpTo, retriesUpTo: retried.upTo });
    this.#settledBefore = new Set([...retried.positions, ...journaled]);
    if ((state.retries?.owners.length ?? 0) > MOST_OWNERS) this.#settlements.advance();
  }
  /** Positions that the last consumer has settled, or stored a retry for, after it stored its cursor. */
  #settledBefore = new Set<string>();

  /** Found in the journal. Kept for a start that is repeated: the journal's broker may be away then. */
  readonly #journaled = new Set<string>();
  #journaledUpTo = 0;

  /** Positions that the journal knows as settled and the cursor does not. Their appends may be missing too. */
  async #readJournal(state: CursorState, mark: number | undefined): Promise<ReadonlySet<string>> {
    const appends: Append[] = [];
    // A journal that was created again counts from the beginning.
    const from = mark !== undefined && mark <= (state.journal?.seq ?? 0) ? undefined : state.journal;
    const found: Position[] = [];
    for (const entry of await this.#deps.journal.since(this.topic, this.group, from)) {
      const before = found.length;
      for (const [seq, ...indexes] of entry.settled)
        for (const index of indexes) if (!isSettled(state, seq, index)) found.push({ seq, index });
      if (found.length > before) appends.push(...entry.appends);
    }
    if (appends.length > 0) await this.#deps.append(appends);
    for (const { seq, index } of found) {
      this.#journaled.add(positionOf(seq, index));
      this.#journaledUpTo = Math.max(this.#journaledUpTo, seq);
    }
    return this.#journaled;
  }

  #settlementsOf(cursor: Cursor, state: CursorState, takenOver: TakenOver): Settlements {
    const { append, journal, persist, ticks, onError } = this.#deps;
    let isMarked = takenOver.mark !== undefined;
    return new Settlements(cursor, state, takenOver, {
      append,
      persist,
      journal: async (entry) => {
        // Without the mark, the next consumer would count the entries of the last one instead of these.
        isMarked ||= (await journal.mark(this.topic, this.group, cursor.owner)) !== undefined;
        return isMarked ? journal.add(this.topic, this.group, entry) : undefined;
      },
      atNextTick: (run) => ticks.next(run),
      isStopped: () => this.#stopped || this.#deps.isClosed(),
      onFenced: () => this.#fenced(),
      onError,
    });
  }

  /** Another consumer owns the group. If this process still should, nobody else does, and it takes the group back. */
  #fenced(): void {
    if (this.#stopped) return;
    this.#deps.onError(new Error(`group ${this.group} of ${this.topic} was taken over by another process`));
    this.#queue = [];
    this.#out.clear();
    this.#reader?.close();
    this.#reader = undefined;
    this.#beginAgain = setTimeout(() => {
      this.#beginning = this.#begin();
    }, FENCED_MS).unref();
  }

  /** Reads on while there is room. */
  #fill(): void {
    if (this.#filling) {
      this.#fillAgain = true;
      return;
    }
    if (this.#stopped || !this.#reader || !this.#hasRoom) return;
    this.#fillAgain = false;
    this.#filling = this.#read(this.#reader)
      .catch(async (error: unknown) => {
        if (this.#stopped) return;
        this.#deps.onError(error);
        this.#fillAgain = true;
        await sleep(BEGIN_AGAIN_MS);
      })
      .finally(() => {
        this.#filling = undefined;
        if (this.#fillAgain) this.#fill();
      });
  }
  get #hasRoom(): boolean {
    return this.#queue.length < this.#options.maxBatch && this.#out.size < this.#options.maxInFlight;
  }

  async #read(reader: GroupReader): Promise<void> {
    await this.#whileRunning(() => this.#takeDueRetries());
    while (!this.#stopped && this.#hasRoom && reader === this.#reader) {
      const settlements = this.#settlements;
      if (!settlements) return;
      const [again] = settlements.reopened;
      if (again) {
        const [seq, ...indexes] = again;
        const message = await this.#whileRunning(() => reader.again(seq));
        settlements.reopened.shift();
        if (message) this.#take(message, reader, settlements, indexes);
        continue;
      }
      const messages = await this.#whileRunning(() => reader.next());
      if (reader !== this.#reader) return;
      if (messages.length === 0) {
        settlements.open.passed(reader.at);
        return;
      }
      for (const message of messages) this.#take(message, reader, settlements);
    }
  }

  /** `only`: the places in the batch that are not settled yet; all of them if empty. */
  #take(message: Message, reader: GroupReader, settlements: Settlements, only: readonly number[] = []): void {
    const { records } = message;
    const open = new OpenMessage(message.seq, message.time, records.length);
    for (const index of records.keys()) {
      const record = message.record(index);
      const wanted = only.length === 0 || only.includes(index);
      if (!record || !wanted || message.time < this.#since || reader.isDuplicate(message, index)) {
        open.settle(index);
        continue;
      }
      if (this.#settledBefore.has(record.position)) {
        open.settle(index);
        // The journal forgets them soon.
        settlements.advance();
        continue;
      }
      if (this.#options.includes?.(record) === false) {
        open.settle(index);
        this.#advance ??= setTimeout(() => this.#storeAdvance(), ADVANCE_MS).unref();
        continue;
      }
      this.#queue.push(new JetStreamDelivery(this, { kind: 'topic', seq: message.seq, index }, record, 1, undefined));
    }
    settlements.open.add(open);
    this.#pump();
  }

  /** Others see in the stored cursor how far the group is. */
  #storeAdvance(): void {
    this.#advance = undefined;
    if (!this.#stopped) this.#settlements?.advance();
  }

  async #takeDueRetries(): Promise<void> {
    const retries = this.#retries;
    if (!retries) return;
    for (const { seq, record, attempt, state } of await retries.takeDue(MOST_DUE))
      this.#queue.push(new JetStreamDelivery(this, { kind: 'retry', seq }, record, attempt, state));
    this.#waitForRetries();
    this.#pump();
  }
  #waitForRetries(): void {
    clearTimeout(this.#due);
    const wait = this.#stopped ? undefined : this.#retries?.nextIn();
    if (wait !== undefined) this.#due = setTimeout(() => this.#fill(), Math.min(wait, 60_000)).unref();
  }

  #pump(): void {
    if (this.#stopped || this.#running || this.#pause || this.#queue.length === 0) return;
    if (this.#out.size >= this.#options.maxInFlight) return;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    // Messages that arrived in one packet form one batch.
    await new Promise((resolve) => setImmediate(resolve));
    const room = Math.min(this.#options.maxBatch, this.#options.maxInFlight - this.#out.size);
    const batch = this.#stopped ? [] : this.#queue.splice(0, room);
    for (const delivery of batch) this.#out.add(delivery);
    try {
      if (batch.length > 0) await this.#handle(batch);
      this.#pauseMs = 0;
    } catch (error) {
      this.#deps.onError(error);
      const again = batch.filter((delivery) => !delivery.isSettling && this.#out.has(delivery));
      for (const delivery of again) this.#out.delete(delivery);
      this.#queue.unshift(...again);
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
      this.#pause = setTimeout(() => {
        this.#pause = undefined;
        this.#pump();
      }, this.#pauseMs);
    } finally {
      this.#running = undefined;
      this.#pump();
      this.#fill();
    }
  }

  async settle(delivery: JetStreamDelivery, retry: RetryRequest | undefined, alongside: Append[]): Promise<void> {
    const { append, persist } = this.#deps;
    const [retries, settlements] = [this.#retries, this.#settlements];
    // Store the appends first, then settle. Record ids make a repeat harmless.
    if (alongside.length > 0) await persist(() => append(alongside));
    if (retry && retries && settlements) {
      // A consumer that was frozen and replaced leaves the record to its successor, which has it, or has settled it.
      if (!(await persist(() => settlements.isOwned()))) return;
      await persist(() => retries.add(delivery.record, delivery.attempt + 1, retry));
      this.#waitForRetries();
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
    const [settlements, retries] = [this.#settlements, this.#retries];
    await Promise.all([
      records.length > 0 ? settlements?.settle(records, appends) : undefined,
      ...retried.map((seq) => persist(async () => retries?.settled(seq))),
    ]);
    for (const delivery of deliveries) this.#out.delete(delivery);
    this.#pump();
    this.#fill();
  }

  /** Stores the cursor now if it lags behind. */
  async flush(): Promise<void> {
    await this.#settlements?.flush();
  }

  /** What waits, as this consumer knows it; undefined while it does not know the end of the topic. */
  get waiting(): { waiting: number; oldest: number | undefined; at: number } | undefined {
    const [reader, settlements, retries] = [this.#reader, this.#settlements, this.#retries];
    if (this.#stopped || !reader?.isLive || !settlements || !retries || settlements.reopened.length > 0) return undefined;
    const { backlog } = reader;
    const { unstored } = settlements;
    const times = [settlements.open.oldest, unstored.oldest, retries.oldest, backlog[0]?.time].filter((time) => time !== undefined);
    const waiting = settlements.open.records + unstored.records + retries.size + backlog.reduce((sum, { count }) => sum + count, 0);
    return { waiting, oldest: times.length === 0 ? undefined : Math.min(...times), at: backlog.at(-1)?.seq ?? reader.at };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#pause);
    clearTimeout(this.#due);
    clearTimeout(this.#advance);
    clearTimeout(this.#beginAgain);
    this.#unlisten?.();
    // While the broker is away, neither may end.
    await Promise.race([Promise.all([this.#beginning, this.#running, this.#filling]), sleep(FLUSH_MS, undefined, { ref: false })]);
    await this.#running;
    // What cannot be stored now is in the journal.
    const flushed = this.flush().catch((error: unknown) => this.#deps.onError(error));
    await Promise.race([flushed, sleep(FLUSH_MS, undefined, { ref: false })]);
    this.#queue = [];
    this.#unlisten?.();
    this.#reader?.close();
    if (this.#feed) this.#deps.feeds.release(this.#feed);
    this.#deps.onStopped(this);
  }
}
