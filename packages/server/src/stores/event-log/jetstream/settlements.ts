import type { Append } from '../port.ts';
import { type CursorState, firstOpen, type JournalPlace, OpenMessages, type RetryOwners } from './cursor.ts';
import { type Cursor, Fenced } from './cursor-store.ts';
import type { JournalEntry } from './journal.ts';

export interface SettlementsDeps {
  /** Retries while the broker is unavailable. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  append(appends: Append[]): Promise<unknown>;
  /** Resolves with its sequence; undefined if the journal could not store the entry. */
  journal(entry: JournalEntry): Promise<number | undefined>;
  /** Calls `run` within a moment, together with the other groups of this process. It returns how many records it stores. */
  atNextTick(run: () => number): void;
  /** Settlements without appends need not survive the death of this process. */
  skipsRepeats: boolean;
  /** Then a cursor that could not be stored is left to the next consumer. */
  isStopped(): boolean;
  onFenced(): void;
  onError(error: unknown): void;
}
interface Place {
  seq: number;
  index: number;
}
interface Waiting {
  records: Place[];
  appends: Append[];
  done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/** Appends of settled records, until they are stored. */
interface Unstored {
  appends: readonly Append[];
  records: number;
  /** When the oldest of the records was appended. */
  oldest: number | undefined;
}
/** State that a consumer found when it took the group over. */
export interface TakenOver {
  /** The sequence of its mark in the journal, if that could be stored. */
  mark: number | undefined;
  /** The last stored retry. */
  retriesUpTo: number;
  /** The last message of which the journal knows a settled record. */
  upTo: number;
  /** The last message of which an earlier consumer may have stored results without settling it. */
  resultsUpTo: number;
}

/** Of a journal entry. */
export const MOST_BYTES = 262_144;
/** Of the appends that wait for the next cursor, in memory and in the journal. */
const MOST_WAITING_BYTES = 1_048_576;

/**
 * Settles a group's records: at once in the journal, in the stored cursor a moment later. Appends that belong to a settlement are in the
 * journal with it, and are stored before the cursor that counts it as settled.
 */
export class Settlements {
  readonly open: OpenMessages;
  readonly #cursor: Cursor;
  readonly #since: { since?: number };
  readonly #retries: RetryOwners;
  readonly #deps: SettlementsDeps;
  /** Partly settled messages of the last consumer, not read again yet. */
  reopened: CursorState['open'];
  /** For the next journal entry. */
  #next: Waiting | undefined;
  /** On its way to the journal. */
  #current: Waiting | undefined;
  #isJournaling = false;
  /** Of settlements that the stored cursor does not count yet. */
  #unstored: Unstored[] = [];
  /** Those on their way. */
  #appending: readonly Unstored[] = [];
  #bytes = 0;
  /** The stored cursor lags behind, and the next tick stores it. */
  #behind = false;
  /** Records that it lags behind. */
  #uncounted = 0;
  #storing: Promise<void> | undefined;
  #storingNext: Promise<void> | undefined;
  #fenced = false;
  #leaving = false;
  readonly #takenOver: TakenOver;
  /** The last own entry of the journal. */
  #entry: number | undefined;
  #journalPlace: JournalPlace | undefined;

  constructor(cursor: Cursor, state: CursorState, takenOver: TakenOver, deps: SettlementsDeps) {
    this.#takenOver = takenOver;
    this.#entry = takenOver.mark;
    this.#journalPlace = state.journal;
    this.#cursor = cursor;
    this.#since = state.since === undefined ? {} : { since: state.since };
    this.#retries = { seq: takenOver.retriesUpTo, owners: [cursor.owner] };
    this.#deps = deps;
    this.open = new OpenMessages(state.high);
    this.reopened = [...state.open].sort(([a], [b]) => a - b);
  }

  /** Resolves when the settlement and its appends survive the death of this process. */
  settle(records: readonly Place[], appends: readonly Append[] = []): Promise<void> {
    const times = records.map(({ seq, index }) => this.open.settle(seq, index));
    if (this.#fenced) return Promise.resolve();
    this.#uncounted += records.length;
    if (this.#deps.skipsRepeats && appends.length === 0) {
      this.advance();
      return Promise.resolve();
    }
    if (appends.length > 0) this.#unstored.push({ appends, records: records.length, oldest: earliest(times) });
    this.#bytes += sizeOf(appends);
    const next = (this.#next ??= waiting());
    next.records.push(...records);
    next.appends.push(...appends);
    if (!this.#isJournaling) void this.#journal();
    return next.done;
  }

  /** Whether no other consumer has taken the group over. If one has, nothing is settled any more. */
  async isOwned(): Promise<boolean> {
    if (!this.#fenced && !(await this.#cursor.isOwned())) this.#fence();
    return !this.#fenced;
  }

  /** Settled records whose appends cannot be read yet. */
  get unstored(): { records: number; oldest: number | undefined } {
    const all = [...this.#appending, ...this.#unstored];
    return { records: all.reduce((sum, { records }) => sum + records, 0), oldest: earliest(all.map(({ oldest }) => oldest)) };
  }

  /** Stores the cursor at the next tick. */
  advance(): void {
    if (this.#behind || this.#fenced) return;
    this.#behind = true;
    this.#deps.atNextTick(() => {
      const records = this.#uncounted;
      if (this.#behind) this.#store().catch((error: unknown) => this.#deps.onError(error));
      return records;
    });
  }

  /** Stores all settlements made before the call. */
  async flush(): Promise<void> {
    // Their callers get the errors.
    await Promise.allSettled([this.#current?.done, this.#next?.done]);
    if (this.#behind) await this.#store();
    await this.#storing;
  }

  /** Flushes for the last time, when no result of a record that is not settled is stored. The next consumer need not look for any. */
  async leave(): Promise<void> {
    this.#leaving = true;
    this.#behind = !this.#fenced;
    await this.flush();
  }

  async #journal(): Promise<void> {
    this.#isJournaling = true;
    while (this.#next !== undefined) {
      // Settlements of one turn of the event loop share an entry.
      await new Promise((resolve) => setImmediate(resolve));
      const entry: Waiting = this.#next;
      this.#current = entry;
      this.#next = undefined;
      try {
        const { owner } = this.#cursor;
        const settled = byMessage(entry.records);
        const stored = this.#bytes > MOST_WAITING_BYTES ? undefined : await this.#deps.journal({ owner, settled, appends: entry.appends });
        if (stored === undefined) await this.#store();
        else {
          this.#entry = stored;
          this.advance();
        }
        entry.resolve();
      } catch (error) {
        entry.reject(error);
      }
    }
    this.#current = undefined;
    this.#isJournaling = false;
  }

  /** Stores appends and cursor. Calls that come meanwhile share the next time. */
  #store(): Promise<void> {
    if (this.#storing === undefined) {
      this.#storing = this.#storeOnce().finally(() => {
        this.#storing = undefined;
      });
      return this.#storing;
    }
    this.#storingNext ??= this.#storing
      .catch(() => {})
      .then(() => {
        this.#storingNext = undefined;
        return this.#store();
      });
    return this.#storingNext;
  }

  async #storeOnce(): Promise<void> {
    const { append, persist } = this.#deps;
    const unstored = this.#unstored;
    const appends = unstored.flatMap((each) => each.appends);
    const journal = this.#readJournalFrom();
    const more = { ...this.#since, ...(journal && { journal }), retries: this.#retries };
    const { owner } = this.#cursor;
    let state = this.open.state(owner, this.reopened, more);
    if (this.#leaving && firstOpen(state).seq > this.#takenOver.resultsUpTo) state = { ...state, left: owner };
    this.#unstored = [];
    this.#appending = unstored;
    this.#bytes = 0;
    this.#behind = false;
    this.#uncounted = 0;
    try {
      if (appends.length > 0) await persist(() => append(byTopic(appends)));
      this.#appending = [];
      await persist(() => this.#cursor.save(state));
    } catch (error) {
      if (error instanceof Fenced) return this.#fence();
      this.#unstored = [...unstored, ...this.#unstored];
      this.#bytes += sizeOf(appends);
      if (!this.#deps.isStopped()) this.advance();
      throw error;
    } finally {
      this.#appending = [];
    }
  }

  /** The cursor counts the own entries, and those of the last consumer once their messages are read. */
  #readJournalFrom(): JournalPlace | undefined {
    const isTakenOver = this.reopened.length === 0 && this.open.read >= this.#takenOver.upTo;
    if (isTakenOver && this.#entry !== undefined) this.#journalPlace = { owner: this.#cursor.owner, seq: this.#entry };
    return this.#journalPlace;
  }

  /** The records belong to another consumer, which gets those that were not settled in time. */
  #fence(): void {
    if (this.#fenced) return;
    this.#fenced = true;
    this.#unstored = [];
    this.#deps.onFenced();
  }
}

function waiting(): Waiting {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { records: [], appends: [], done: promise, resolve, reject };
}
function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
export function sizeOf(appends: readonly Append[]): number {
  let bytes = 0;
  for (const { records } of appends) for (const { data } of records) bytes += data.length + 100;
  return bytes;
}
export function byMessage(records: readonly Place[]): JournalEntry['settled'] {
  const found = new Map<number, [number, ...number[]]>();
  for (const { seq, index } of records) {
    const known = found.get(seq);
    if (known) known.push(index);
    else found.set(seq, [seq, index]);
  }
  return [...found.values()];
}
function byTopic(appends: readonly Append[]): Append[] {
  const found = new Map<string, Append>();
  for (const { topic, records } of appends) {
    const known = found.get(topic);
    if (known) known.records.push(...records);
    else found.set(topic, { topic, records: [...records] });
  }
  return [...found.values()];
}
