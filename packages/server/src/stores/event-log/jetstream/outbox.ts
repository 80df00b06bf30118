import { setTimeout as sleep } from 'node:timers/promises';
import type { Append } from '../port.ts';

export interface OutboxDeps {
  append(appends: Append[]): Promise<unknown>;
  /** Retries while the broker is unavailable. */
  persist<T>(work: () => Promise<T>): Promise<T>;
  /** All appends that a stored cursor names are in the log. */
  onEmpty(): void;
  onError(error: unknown): void;
}

/** More than this is appended directly. */
export const MOST_BYTES = 64 * 1_024;
/** Appends wait this long for others, so that many share a message. */
const GATHER_MS = 20;

/**
 * Appends that travel in the cursor: a settlement and what belongs to it are one message, stored or not stored together. They reach their own
 * topics a moment later, many in one message, and the next cursor leaves them out.
 */
export class Outbox {
  readonly #deps: OutboxDeps;
  #appends: Append[] = [];
  /** The first appends that a stored cursor names. */
  #stored = 0;
  #bytes = 0;
  #shipping: Promise<void> | undefined;
  #hurry: AbortController | undefined;
  #closed = false;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  fits(appends: readonly Append[]): boolean {
    return this.#bytes + sizeOf(appends) <= MOST_BYTES;
  }
  add(appends: readonly Append[]): void {
    this.#appends.push(...appends);
    this.#bytes += sizeOf(appends);
  }
  /** For the cursor that is written next. */
  get appends(): readonly Append[] {
    return this.#appends;
  }
  /** A cursor with the first `count` appends is stored. */
  stored(count: number): void {
    this.#stored = Math.max(this.#stored, count);
    if (this.#stored > 0) this.#shipping ??= this.#ship();
  }

  async #ship(): Promise<void> {
    try {
      while (this.#stored > 0 && !this.#closed) {
        this.#hurry = new AbortController();
        await sleep(GATHER_MS, undefined, { signal: this.#hurry.signal }).catch(() => undefined);
        const some = this.#appends.slice(0, this.#stored);
        await this.#deps.persist(() => this.#deps.append(some));
        this.#appends = this.#appends.slice(some.length);
        this.#stored -= some.length;
        this.#bytes -= sizeOf(some);
      }
      if (!this.#closed) this.#deps.onEmpty();
    } catch (error) {
      // The log is closed. The stored cursor has the rest.
      this.#deps.onError(error);
    } finally {
      this.#shipping = undefined;
    }
  }

  /** Resolves when all appends that a stored cursor names are in the log. */
  async flush(): Promise<void> {
    this.#hurry?.abort();
    await this.#shipping;
  }
  /** Another consumer has taken the group over, and its outbox with it. */
  close(): void {
    this.#closed = true;
  }
}

function sizeOf(appends: readonly Append[]): number {
  let bytes = 0;
  for (const { records } of appends) for (const { data } of records) bytes += data.length + 100;
  return bytes;
}
