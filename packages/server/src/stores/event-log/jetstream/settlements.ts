import { setTimeout as sleep } from 'node:timers/promises';
import type { Append } from '../port.ts';
import { type CursorState, OpenMessages } from './cursor.ts';
import { type Cursor, Fenced } from './cursor-store.ts';
import { Outbox } from './outbox.ts';

export interface SettlementsDeps {
  /** Retries while the broker is unavailable. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  append(appends: Append[]): Promise<unknown>;
  onFenced(): void;
  onError(error: unknown): void;
}

/** A settlement that nobody waits for may take this long, so that many share one write. */
const LAZY_MS = 100;

/** Writes a group's cursor. One write at a time; settlements that come meanwhile share the next one. */
export class Settlements {
  readonly open: OpenMessages;
  readonly #cursor: Cursor;
  readonly #since: number | undefined;
  readonly #deps: SettlementsDeps;
  /** Partly settled messages of the last consumer, not read again yet. */
  reopened: CursorState['open'];
  #next: { done: Promise<void>; resolve(): void; reject(error: unknown): void } | undefined;
  #hurry = false;
  #wake: AbortController | undefined;
  #writing: Promise<void> | undefined;
  #fenced = false;
  readonly #outbox: Outbox;
  /** The stored cursor names appends. */
  #carries = false;

  constructor(cursor: Cursor, state: CursorState, deps: SettlementsDeps) {
    const { append, persist, onError } = deps;
    this.#outbox = new Outbox({ append, persist, onError, onEmpty: () => this.#leaveOut() });
    this.#cursor = cursor;
    this.#since = state.since;
    this.#deps = deps;
    this.open = new OpenMessages(state.high);
    this.reopened = [...state.open].sort(([a], [b]) => a - b);
  }

  /** Whether `settle` can take these appends along. */
  carries(appends: readonly Append[]): boolean {
    return this.#outbox.fits(appends);
  }

  /**
   * Resolves when the records are settled on the broker, `appends` with them. `lazy`: a crash may repeat them, and that is harmless.
   */
  settle(records: readonly { seq: number; index: number }[], lazy: boolean, appends: readonly Append[] = []): Promise<void> {
    this.#outbox.add(appends);
    for (const { seq, index } of records) this.open.settle(seq, index);
    if (this.#fenced) return Promise.resolve();
    if (!lazy) this.#hurryUp();
    if (this.#next === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#next = { done: promise, resolve, reject };
      this.#writing ??= this.#write();
    }
    return this.#next.done;
  }

  /** Writes what waits, and waits for it. */
  async flush(): Promise<void> {
    this.#hurryUp();
    await this.#writing;
    await this.#outbox.flush();
    this.#hurryUp();
    await this.#writing;
  }

  /** Appends of a stored cursor would be repeated at the next takeover, however late. */
  #leaveOut(): void {
    if (this.#carries) this.settle([], true).catch((error: unknown) => this.#deps.onError(error));
  }

  #hurryUp(): void {
    this.#hurry = true;
    this.#wake?.abort();
  }

  async #write(): Promise<void> {
    while (this.#next !== undefined) {
      await this.#pause();
      const writing = this.#next;
      this.#next = undefined;
      this.#hurry = false;
      try {
        const outbox = await this.#deps.persist(() => this.#save());
        this.#carries = outbox > 0;
        this.#outbox.stored(outbox);
        writing.resolve();
      } catch (error) {
        if (error instanceof Fenced) this.#fence(writing);
        else writing.reject(error);
      }
    }
    this.#writing = undefined;
  }

  /** Returns the number of appends that the stored cursor names. */
  async #save(): Promise<number> {
    const outbox = [...this.#outbox.appends];
    const state = this.open.state(this.#cursor.owner, this.reopened, this.#since);
    await this.#cursor.save(outbox.length === 0 ? state : { ...state, outbox });
    return outbox.length;
  }

  async #pause(): Promise<void> {
    // Settlements of one turn of the event loop share a write.
    if (this.#hurry) return void (await new Promise((resolve) => setImmediate(resolve)));
    this.#wake = new AbortController();
    await sleep(LAZY_MS, undefined, { signal: this.#wake.signal }).catch(() => {});
    this.#wake = undefined;
  }

  /** The records belong to another consumer, which gets those that were not settled in time. */
  #fence(writing: { resolve(): void }): void {
    this.#fenced = true;
    this.#outbox.close();
    writing.resolve();
    this.#next?.resolve();
    this.#next = undefined;
    this.#deps.onFenced();
  }
}
