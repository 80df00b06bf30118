import type { Append, ConsumeOptions, Repeats } from '../port.ts';
import { type CursorState, isSettled } from './cursor.ts';
import type { Cursor, CursorStore } from './cursor-store.ts';
import { GroupReader, type GroupReaderDeps } from './group-reader.ts';
import type { Journal } from './journal.ts';
import type { Place } from './names.ts';
import { type Position, parsePosition, positionOf } from './position.ts';
import { type RetryDeps, RetryQueue } from './retry-queue.ts';
import { byMessage, Settlements, type TakenOver } from './settlements.ts';
import { startOf } from './start-position.ts';
import type { Ticks } from './ticks.ts';
import type { TopicFeed } from './topic-feed.ts';

export interface TakeoverDeps extends GroupReaderDeps, RetryDeps {
  cursors: CursorStore;
  journal: Journal;
  /** When cursors are stored. */
  ticks: Record<Repeats, Ticks>;
  append(appends: Append[]): Promise<unknown>;
  /** Learns the ids that other processes have stored. */
  refreshIds(): Promise<void>;
  /** Retries `work` while the broker is unavailable. Rejects when the log is closed, or with an error that a retry cannot fix. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  onError(error: unknown): void;
}
export interface TakeoverHooks {
  isStopped(): boolean;
  /** Throws if the consumer is stopped. */
  check(): void;
  /** Another consumer has taken the group over. */
  onFenced(): void;
}

/** A group in the hands of one consumer, from its takeover to the next one. */
export interface OwnedGroup {
  reader: GroupReader;
  settlements: Settlements;
  retries: RetryQueue;
  /** Older messages are not the group's. */
  since: number;
  /** Positions that the last consumer has settled, or stored a retry for, after it stored its cursor. */
  settledBefore: ReadonlySet<string>;
}

/** Each takeover adds an owner whose retries count, until the cursor is stored. */
const MOST_OWNERS = 8;

/** Takes a group over from any other consumer: its cursor first, then what the last one has settled since it stored the cursor. */
export class Takeover {
  readonly #topic: string;
  readonly #group: string;
  readonly #options: ConsumeOptions;
  readonly #deps: TakeoverDeps;
  readonly #hooks: TakeoverHooks;
  /** Found in the journal. Kept for a takeover that is repeated: the journal's broker may be away then. */
  readonly #journaled = new Set<string>();
  #journaledUpTo = 0;

  constructor(topic: string, group: string, options: ConsumeOptions, deps: TakeoverDeps, hooks: TakeoverHooks) {
    this.#topic = topic;
    this.#group = group;
    this.#options = options;
    this.#deps = deps;
    this.#hooks = hooks;
  }

  /** The feed opens meanwhile: every step is an exchange with the broker, and the group waits for their sum. */
  async run(place: Place, opening: Promise<TopicFeed>): Promise<OwnedGroup> {
    const { cursors, direct, journal, refreshIds } = this.#deps;
    const { check } = this.#hooks;
    const start = async () => {
      // Opening creates the stream, which a new group may be the first to need.
      await opening;
      return startOf(this.#options.start, place, direct);
    };
    // A consumer that was stopped meanwhile must not take the group from its successor.
    const { cursor, state, isNew, isLeft } = await cursors.claim(this.#topic, this.#group, start, check);
    // Its last consumer may have died after it stored results and before it settled their records.
    const mayHaveDied = this.#options.ordered && !isNew && !isLeft;
    const lastMessage = () => direct.leaderGet(place.stream, { last_by_subj: place.subject });
    const refreshed = mayHaveDied ? Promise.all([lastMessage(), refreshIds()]) : undefined;
    refreshed?.catch(() => {});
    const mark = isNew ? 0 : await journal.mark(this.#topic, this.#group, cursor.owner);
    if (!isNew) await this.#readJournal(state, mark);
    const journaled = isNew ? new Set<string>() : this.#journaled;
    const retries = new RetryQueue(this.#topic, this.#group, cursor.owner, this.#options.skipRetryDelays === true, this.#deps);
    const retried = await retries.load({
      counted: state.retries,
      isSettled: (position) => {
        const at = parsePosition(position);
        return journaled.has(position) || (at !== undefined && isSettled(state, at.seq, at.index));
      },
    });
    const settling = this.#settleRetried(retried.positions, state, cursor.owner);
    const [feed, found] = await Promise.all([opening, refreshed, settling]);
    check();
    const takenOver = { mark, upTo: this.#journaledUpTo, retriesUpTo: retried.upTo, resultsUpTo: found?.[0]?.seq ?? 0 };
    const settlements = this.#settlementsOf(cursor, state, takenOver);
    if ((state.retries?.owners.length ?? 0) > MOST_OWNERS) settlements.advance();
    return {
      reader: new GroupReader(feed, state.high, this.#deps),
      settlements,
      retries,
      since: state.since ?? 0,
      settledBefore: new Set([...retried.positions, ...journaled]),
    };
  }

  /** Finds positions that the journal knows as settled and the cursor does not. Their appends may be missing too, and are stored again. */
  async #readJournal(state: CursorState, mark: number | undefined): Promise<void> {
    const { append, journal } = this.#deps;
    const appends: Append[] = [];
    // A journal that was created again counts from the beginning.
    const from = mark !== undefined && mark <= (state.journal?.seq ?? 0) ? undefined : state.journal;
    const found: Position[] = [];
    for (const entry of await journal.since(this.#topic, this.#group, from)) {
      const before = found.length;
      for (const [seq, ...indexes] of entry.settled)
        for (const index of indexes) if (!isSettled(state, seq, index)) found.push({ seq, index });
      if (found.length > before) appends.push(...entry.appends);
    }
    if (appends.length > 0) await append(appends);
    this.#remember(found);
  }

  /**
   * Records whose retry the last consumer stored, but died before it settled them. Once the retry is settled and deleted, nothing else would
   * tell the next consumer that they are done.
   */
  async #settleRetried(retried: ReadonlySet<string>, state: CursorState, owner: string): Promise<void> {
    const open: Position[] = [];
    for (const position of retried) {
      const at = this.#journaled.has(position) ? undefined : parsePosition(position);
      if (at !== undefined && !isSettled(state, at.seq, at.index)) open.push(at);
    }
    if (open.length === 0) return;
    const entry = { owner, settled: byMessage(open), appends: [] };
    if ((await this.#deps.journal.add(this.#topic, this.#group, entry)) !== undefined) this.#remember(open);
  }

  #remember(positions: readonly Position[]): void {
    for (const { seq, index } of positions) {
      this.#journaled.add(positionOf(seq, index));
      this.#journaledUpTo = Math.max(this.#journaledUpTo, seq);
    }
  }

  #settlementsOf(cursor: Cursor, state: CursorState, takenOver: TakenOver): Settlements {
    const { append, journal, persist, ticks, onError } = this.#deps;
    const { isStopped, onFenced } = this.#hooks;
    const { repeats = 'seen' } = this.#options;
    let isMarked = takenOver.mark !== undefined;
    return new Settlements(cursor, state, takenOver, {
      append,
      persist,
      journal: async (entry) => {
        // Without the mark, the next consumer would count the entries of the last one instead of these.
        isMarked ||= (await journal.mark(this.#topic, this.#group, cursor.owner)) !== undefined;
        return isMarked ? journal.add(this.#topic, this.#group, entry) : undefined;
      },
      atNextTick: (run) => ticks[repeats].next(run),
      skipsRepeats: repeats === 'skipped',
      isStopped,
      onFenced,
      onError,
    });
  }
}
