import type { Append } from '../port.ts';
import { type CursorState, OpenMessages } from './cursor.ts';
import { type Cursor, Fenced } from './cursor-store.ts';
import type { JournalEntry } from './journal.ts';

export interface SettlementsDeps {
  /** Retries while the broker is unavailable. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  append(appends: Append[]): Promise<unknown>;
  /** Resolves with false if the journal could not store the entry. */
  journal(entry: JournalEntry): Promise<boolean>;
  /** Calls `run` within a moment, together with the other groups of this process. */
  atNextTick(run: () => void): void;
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

/** A journal entry stays below this size, and so does the memory of appends that wait for the next cursor. */
export const MOST_BYTES = 262_144;

/**
 * Settles a group's records: at once in the journal, in the stored cursor a moment later. Appends that belong to a settlement are in the
 * journal with it, and are stored before the cursor that counts it as settled.
 */
export class Settlements {
  readonly open: OpenMessages;
  readonly #cursor: Cursor;
  readonly #since: number | undefined;
  readonly #deps: SettlementsDeps;
  /** Partly settled messages of the last consumer, not read again yet. */
  reopened: CursorState['open'];
  /** For the next journal entry. */
  #next: Waiting | undefined;
  #journaling: Promise<void> | undefined;
  /** Appends of settlements that the stored cursor does not count yet. */
  #appends: Append[] = [];
  #bytes = 0;
  /** The stored cursor lags behind, and the next tick stores it. */
  #behind = false;
  #storing: Promise<void> | undefined;
  #storingNext: Promise<void> | undefined;
  #fenced = false;

  constructor(cursor: Cursor, state: CursorState, deps: SettlementsDeps) {
    this.#cursor = cursor;
    this.#since = state.since;
    this.#deps = deps;
    this.open = new OpenMessages(state.high);
    this.reopened = [...state.open].sort(([a], [b]) => a - b);
  }

  /** Resolves when the settlement and its appends survive the death of this process. */
  settle(records: readonly Place[], appends: readonly Append[] = []): Promise<void> {
    for (const { seq, index } of records) this.open.settle(seq, index);
    if (this.#fenced) return Promise.resolve();
    this.#appends.push(...appends);
    this.#bytes += sizeOf(appends);
    const next = (this.#next ??= waiting());
    next.records.push(...records);
    next.appends.push(...appends);
    this.#journaling ??= this.#journal();
    return next.done;
  }

  /** Stores the cursor at the next tick. */
  advance(): void {
    if (this.#behind || this.#fenced) return;
    this.#behind = true;
    this.#deps.atNextTick(() => {
      if (this.#behind) this.#store().catch((error: unknown) => this.#deps.onError(error));
    });
  }

  /** Stores what waits. */
  async flush(): Promise<void> {
    await this.#journaling;
    if (this.#behind) await this.#store();
    await this.#storing;
  }

  async #journal(): Promise<void> {
    while (this.#next !== undefined) {
      // Settlements of one turn of the event loop share an entry.
      await new Promise((resolve) => setImmediate(resolve));
      const entry: Waiting = this.#next;
      this.#next = undefined;
      try {
        const { owner } = this.#cursor;
        const settled = byMessage(entry.records);
        const isStored = this.#bytes <= MOST_BYTES && (await this.#deps.journal({ owner, settled, appends: entry.appends }));
        if (isStored) this.advance();
        else await this.#store();
        entry.resolve();
      } catch (error) {
        entry.reject(error);
      }
    }
    this.#journaling = undefined;
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
    const appends = this.#appends;
    const state = this.open.state(this.#cursor.owner, this.reopened, this.#since);
    this.#appends = [];
    this.#bytes = 0;
    this.#behind = false;
    try {
      if (appends.length > 0) await persist(() => append(byTopic(appends)));
      await persist(() => this.#cursor.save(state));
    } catch (error) {
      if (error instanceof Fenced) return this.#fence();
      this.#appends = [...appends, ...this.#appends];
      this.#bytes += sizeOf(appends);
      throw error;
    }
  }

  /** The records belong to another consumer, which gets those that were not settled in time. */
  #fence(): void {
    this.#fenced = true;
    this.#appends = [];
    this.#deps.onFenced();
  }
}

function waiting(): Waiting {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { records: [], appends: [], done: promise, resolve, reject };
}
export function sizeOf(appends: readonly Append[]): number {
  let bytes = 0;
  for (const { records } of appends) for (const { data } of records) bytes += data.length + 100;
  return bytes;
}
function byMessage(records: readonly Place[]): JournalEntry['settled'] {
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
