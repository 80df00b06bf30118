/**
 * States of visitors without events in flight. One process owns a visitor at a time, so this is never behind the store, except
 * for erasure by another process: entries are dropped on its message, and expire after a minute in case it was missed.
 */
import { Lru } from '@firsthand/core/context/lru.ts';
import { hasOutlived, type VisitorState } from '@firsthand/core/process/visitor.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { VisitorStore } from '../../stores/visitors/port.ts';

export interface KnownVisitor {
  state: VisitorState;
  /** The stored state. `state` may be ahead of it by the last activity of a session. */
  saved: VisitorState;
}
const LIMIT = 20_000;
const BELIEVED_MS = 60_000;
export const NOTHING: VisitorState = Object.freeze({});

export class VisitorCache {
  readonly #store: VisitorStore;
  readonly #clock: Clock;
  readonly #entries = new Lru<string, KnownVisitor & { at: number }>(LIMIT);

  constructor(store: VisitorStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get(orgId: string, anonymousId: string): KnownVisitor | undefined {
    const key = keyOf(orgId, anonymousId);
    const entry = this.#entries.get(key);
    if (entry === undefined || this.#clock.monotonic() - entry.at < BELIEVED_MS) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  /** Reads from the store, not from memory. */
  async load(orgId: string, anonymousIds: string[]): Promise<KnownVisitor[]> {
    const loaded = await this.#store.load(orgId, anonymousIds);
    const now = this.#clock.now();
    return loaded.map((found) => {
      const state = found === undefined || hasOutlived(found, now) ? NOTHING : found;
      return { state, saved: state };
    });
  }

  put(orgId: string, anonymousId: string, known: KnownVisitor): void {
    this.#entries.set(keyOf(orgId, anonymousId), { state: known.state, saved: known.saved, at: this.#clock.monotonic() });
  }

  forget(orgId: string, anonymousId: string): void {
    this.#entries.delete(keyOf(orgId, anonymousId));
  }
  clear(): void {
    this.#entries.clear();
  }
}

function keyOf(orgId: string, anonymousId: string): string {
  return `${orgId}\n${anonymousId}`;
}
