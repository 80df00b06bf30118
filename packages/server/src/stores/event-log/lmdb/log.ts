import type { Clock } from '../../../runtime/clock.ts';
import type {
  Alongside,
  Append,
  AppendResult,
  ConsumeOptions,
  Consumer,
  Delivery,
  EventLog,
  PackedRange,
  PackedRecords,
  ReadRange,
  StoredRecord,
} from '../port.ts';
import { ArenaPool } from './arena-pool.ts';
import { positionOf, seqOf } from './block.ts';
import { Catalogue } from './catalogue.ts';
import { LmdbConsumer } from './consumer.ts';
import { LmdbDelivery } from './delivery.ts';
import { DueTimer } from './due-timer.ts';
import { type Environment, openEnvironment, type Store } from './environment.ts';
import { eraseRecords, expireTopic } from './expire.ts';
import { FairScheduler } from './fair-scheduler.ts';
import { decodeRetry, type Group } from './group.ts';
import { GroupCommit } from './group-commit.ts';
import { retryKey } from './keys.ts';
import { IdUpkeep, KnownIds, type Part } from './known-ids.ts';
import { SettlementJournal } from './settlement-journal.ts';
import { SteadyTime } from './steady-time.ts';
import { TailCache } from './tail-cache.ts';
import type { Topic } from './topic.ts';
import { putTopic } from './transaction.ts';

export interface LmdbLogSettings {
  path: string;
  dedupWindowMs: number;
  clock: Clock;
  onFatal?: (error: Error) => void;
  onError?: (error: unknown, where: { topic: string; group: string }) => void;
  commitTimeoutMs?: number;
  /** Default: all. */
  part?: Part;
}

const READ_CHUNK = 128;
/** Records that are loaded together: each time takes a fraction of a millisecond from this thread. */
const LOADED_CHUNKS = 8;
/** Limits the search for the oldest record among waiting retries. */
const MOST_LOOKED_AT = 5_000;

export class LmdbLog implements EventLog {
  readonly atomic = true;
  /** The LMDB environment, for small stores that share its file and writer. */
  readonly environment: Environment;
  readonly #retries: Store;
  readonly #catalogue: Catalogue;
  readonly #commits: GroupCommit;
  readonly #upkeep: IdUpkeep;
  readonly #turns = new FairScheduler();
  readonly #timer: DueTimer;
  readonly #consumers = new Set<LmdbConsumer>();
  readonly #onError: NonNullable<LmdbLogSettings['onError']>;
  readonly #journal: ReturnType<typeof SettlementJournal.open>;
  readonly #stampLag: () => number;

  static async open(settings: LmdbLogSettings): Promise<LmdbLog> {
    const log = new LmdbLog(settings);
    log.#commitJournal();
    await log.#catalogue.finishRemovals();
    return log;
  }
  /** Commits settlements that the last process journaled but did not commit. While the disk is full, only this step waits for space. */
  #commitJournal(): void {
    const { journal, left } = this.#journal;
    const groups = this.#catalogue.groupsByNumber();
    const stored = left.map(({ settled, appends }) => {
      const deliveries: LmdbDelivery[] = [];
      for (let i = 0; i < settled.length; i += 2) {
        const [number, seq] = [settled[i]!, settled[i + 1]!];
        const group = groups.get(number);
        // An entry outlives its commit for a while: the record may be settled already, or its group removed.
        if (!group || group.settled.has(seq)) continue;
        group.settled.add(seq);
        deliveries.push(LmdbDelivery.ofGone(group, seq));
      }
      return deliveries.length > 0 ? this.#commits.settle({ deliveries, alongside: { appends } }) : undefined;
    });
    Promise.all(stored)
      .then(() => journal.begin())
      .catch((error: unknown) => this.#onError(error, { topic: '', group: 'settlement journal' }));
  }

  private constructor(settings: LmdbLogSettings) {
    const onFatal =
      settings.onFatal ??
      ((error: Error) => {
        process.nextTick(() => {
          throw error;
        });
      });
    this.#onError = settings.onError ?? (() => {});
    this.environment = openEnvironment({ ...settings, onFatal });
    const { environment } = this;
    const records = environment.store('records');
    const meta = environment.store('meta');
    this.#retries = environment.store('retries');
    let time: SteadyTime | undefined;
    const ids = new KnownIds(environment, settings.dedupWindowMs, () => time!.steady(), settings.part ?? 'all');
    time = new SteadyTime(settings.clock, ids.lastKnownTime);
    const steady = () => time.steady();
    this.#stampLag = () => Math.max(0, settings.clock.now() - time.stamp());
    this.#timer = new DueTimer(steady);
    const arenas = new ArenaPool();
    const tails = new TailCache(arenas);
    this.#catalogue = new Catalogue({
      records,
      meta,
      retries: this.#retries,
      tails,
      write: (prepare) => this.#commits.write(prepare),
      group: {
        retries: this.#retries,
        steady,
        settle: (settlement) => this.#commits.settle(settlement),
        wakeAt: (group, due) => this.#timer.set(group, due),
      },
      onError: this.#onError,
    });
    this.#journal = SettlementJournal.open(settings.path);
    this.#commits = new GroupCommit(
      {
        environment,
        records,
        meta,
        retries: this.#retries,
        ids,
        tails,
        arenas,
        topic: (name) => this.#catalogue.topic(name),
        stamp: () => time.stamp(),
      },
      this.#journal.journal,
    );
    this.#upkeep = new IdUpkeep({
      ids,
      isAvailable: () => this.available,
      write: (prepare) => this.#commits.write(prepare),
      onError: (error) => this.#onError(error, { topic: '', group: 'deduplication' }),
    });
  }

  get available(): boolean {
    return this.#commits.available;
  }

  append(appends: Append[]): Promise<AppendResult[]> {
    return this.#commits.append(appends);
  }

  async ackAll(deliveries: readonly Delivery[], { appends, derive, save }: Alongside = { appends: [] }): Promise<void> {
    const open = (deliveries as readonly LmdbDelivery[]).filter((delivery) => !delivery.isSettling);
    const alongside = derive ? { appends, derive } : { appends };
    const settling = this.#commits.settle({ deliveries: open, alongside, journal: derive === undefined }, save);
    for (const delivery of open) delivery.settledBy(settling);
    try {
      await settling;
    } catch (error) {
      for (const delivery of open) delivery.settledBy(undefined);
      throw error;
    }
  }

  consume(topic: string, group: string, options: ConsumeOptions, handle: (batch: Delivery[]) => Promise<void>): Consumer {
    const known = this.#catalogue.group(topic, group, options.start);
    const consumer = new LmdbConsumer(known, this.#turns, options, handle);
    this.#consumers.add(consumer);
    return {
      started: known.isStored,
      stop: () => {
        this.#consumers.delete(consumer);
        return consumer.stop();
      },
    };
  }

  async *readPacked(name: string, { to, after, limit }: PackedRange): AsyncIterable<PackedRecords> {
    const topic = this.#catalogue.find(name);
    if (topic === undefined) return;
    const end = to ? await topic.findSeqAt(to.getTime()) : topic.next;
    yield* topic.packedBack(Math.min(end, after === undefined ? end : seqOf(after)) - 1, limit);
  }

  async *read(name: string, range: ReadRange): AsyncIterable<StoredRecord> {
    const topic = this.#catalogue.find(name);
    if (!topic) return;
    const from = range.from?.getTime() ?? Number.NEGATIVE_INFINITY;
    const to = range.to?.getTime() ?? Number.POSITIVE_INFINITY;
    const after = range.after === undefined ? undefined : seqOf(range.after);
    const isPast = ({ time }: StoredRecord) => (range.reverse ? time < from : time >= to);
    let left = range.limit;
    let seq: number;
    if (range.reverse) seq = Math.min(Number.isFinite(to) ? (await topic.findSeqAt(to)) - 1 : topic.next - 1, (after ?? topic.next) - 1);
    else seq = Math.max(Number.isFinite(from) ? await topic.findSeqAt(from) : 1, (after ?? 0) + 1);
    for (let n = 0; left > 0; n++) {
      const most = Math.min(left, READ_CHUNK);
      const ahead = Math.min(left, READ_CHUNK * LOADED_CHUNKS);
      if (n % LOADED_CHUNKS === 0) await (range.reverse ? topic.load(Math.max(0, seq - ahead), seq) : topic.load(seq, seq + ahead));
      const chunk = range.reverse ? topic.backFrom(seq, most) : topic.from(seq, most);
      const past = chunk.findIndex(isPast);
      const wanted = chunk.slice(0, Math.min(left, past < 0 ? chunk.length : past));
      yield* wanted;
      if (chunk.length === 0 || wanted.length < chunk.length) return;
      left -= wanted.length;
      seq = chunk.at(-1)!.seq + (range.reverse ? -1 : 1);
      // Long reads must yield to the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async get(name: string, position: string): Promise<StoredRecord | undefined> {
    return (await this.getMany(name, [position]))[0];
  }

  async getMany(name: string, positions: readonly string[]): Promise<(StoredRecord | undefined)[]> {
    return (await this.#catalogue.find(name)?.getMany(positions.map(seqOf))) ?? positions.map(() => undefined);
  }

  async remove(name: string, group?: string): Promise<void> {
    if (group === undefined) await this.#catalogue.removeTopic(name);
    else await this.#catalogue.removeGroup(name, group);
  }

  async expire(name: string, before: Date, ignoring: string[] = []): Promise<number> {
    const topic = this.#catalogue.find(name);
    if (!topic) return 0;
    // After a jump of the wall clock the times of records lag behind it.
    const cutOff = before.getTime() - this.#stampLag();
    return inTurn(topic, () => expireTopic(topic, cutOff, ignoring, this.#catalogue.deps));
  }

  async erase(name: string, positions: readonly string[]): Promise<string[]> {
    const topic = this.#catalogue.find(name);
    if (!topic) return [];
    return (await inTurn(topic, () => eraseRecords(topic, positions.map(seqOf), this.#catalogue.deps))).map(positionOf);
  }

  async lag(name: string, groupName: string): Promise<{ waiting: number; oldest: number | undefined }> {
    const topic = this.#catalogue.find(name);
    const group = topic?.groups.get(groupName);
    if (!topic || !group) return { waiting: 0, oldest: undefined };
    const { settled } = group;
    const waiting = Math.max(0, topic.next - 1 - settled.cursor - settled.above) + group.retryCount;
    let oldest = topic.next - 1 > settled.cursor ? topic.timeFrom(settled.cursor + 1) : undefined;
    if (group.retryCount > 0) {
      const range = { start: retryKey(group.number, 0, 0), end: retryKey(group.number + 1, 0, 0), limit: MOST_LOOKED_AT };
      for (const { value } of this.#retries.getRange(range)) oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, decodeRetry(value).time);
    }
    return { waiting, oldest };
  }

  async topics(prefix: string): Promise<string[]> {
    return this.#catalogue.names(prefix);
  }

  async groups(name: string): Promise<string[]> {
    return [...(this.#catalogue.find(name)?.groups.keys() ?? [])];
  }

  /** Runs small writes in the log's commits. */
  write(prepare: () => () => void): Promise<void> {
    return this.#commits.write(prepare);
  }

  /** Stores the names of topics, so that another thread can append to them. */
  async create(names: readonly string[]): Promise<void> {
    const topics = names.map((name) => this.#catalogue.topic(name));
    await this.#commits.write(() => () => {
      for (const topic of topics) if (!topic.stored) putTopic(this.#catalogue.deps.meta, topic);
    });
    for (const topic of topics) topic.stored = true;
  }

  /** Call when another thread has stored the records before `next`. */
  grown(name: string, next: number): void {
    const topic = this.#catalogue.find(name);
    if (topic === undefined) return;
    // The transaction that this thread reads in may have begun before.
    this.environment.root.resetReadTxn();
    if (next > topic.next) topic.next = next;
    for (const group of topic.groups.values()) group.wake();
  }

  async close(): Promise<void> {
    this.#timer.close();
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    await this.#upkeep.stop();
    await this.#commits.close();
    await this.#upkeep.save();
    await this.environment.close();
  }
}

function inTurn<T>(topic: Topic, work: () => Promise<T>): Promise<T> {
  const done = topic.upkeep.then(work);
  topic.upkeep = done.catch(() => undefined);
  return done;
}

export type { Group };
