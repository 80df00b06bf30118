/**
 * States of visitors without events in flight. One process owns a visitor at a time, so this is never behind the store, except for erasure by
 * another process: entries are dropped on its message, and compared with the store after a minute in case it was missed.
 *
 * A state may be ahead of the store by the last events of its session. It is saved when it leaves the cache, or with `saveAll`.
 */
import { Lru } from '@firsthand/core/context/lru.ts';
import { hasOutlived, type VisitorState } from '@firsthand/core/process/visitor.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { VisitorStore } from '../../stores/visitors/port.ts';

export interface KnownVisitor {
  state: VisitorState;
  /** The stored state. `state` may be ahead of it by the last activity of a session. */
  saved: VisitorState;
}
interface Entry extends KnownVisitor {
  orgId: string;
  anonymousId: string;
  /** Since when no event of the visitor is in flight. */
  at: number;
}
const LIMIT = 20_000;
const BELIEVED_MS = 60_000;
const SAVED_AT_ONCE = 100;
const AGAIN_MS = 1_000;
export const NOTHING: VisitorState = Object.freeze({});

export interface VisitorCacheDeps {
  visitors: Pick<VisitorStore, 'load' | 'replace'>;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
}

export class VisitorCache {
  readonly #deps: VisitorCacheDeps;
  readonly #entries: Lru<string, Entry>;
  /** Evicted while ahead of the store. */
  readonly #leaving = new Map<string, Entry>();
  #isSavingLeaving = false;
  #savingAll: Promise<void> | undefined;

  constructor(deps: VisitorCacheDeps, limit = LIMIT) {
    this.#deps = deps;
    this.#entries = new Lru(limit, (evicted) => this.#saveEvicted(evicted));
  }

  get(orgId: string, anonymousId: string): KnownVisitor | undefined {
    const entry = this.#find(keyOf(orgId, anonymousId));
    return entry !== undefined && this.#deps.clock.monotonic() - entry.at < BELIEVED_MS ? entry : undefined;
  }

  /** Reads from the store. What is known here and not stored yet belongs to it, if the store still has what it was based on. */
  async load(orgId: string, anonymousIds: string[]): Promise<KnownVisitor[]> {
    const loaded = await this.#deps.visitors.load(orgId, anonymousIds);
    const now = this.#deps.clock.now();
    return loaded.map((found, at) => {
      const saved = found ?? NOTHING;
      const known = this.#find(keyOf(orgId, anonymousIds[at] ?? ''));
      const state = known !== undefined && areSame(known.saved, saved) ? known.state : saved;
      return hasOutlived(state, now) ? { state: NOTHING, saved: NOTHING } : { state, saved };
    });
  }

  put(orgId: string, anonymousId: string, { state, saved }: KnownVisitor): void {
    const key = keyOf(orgId, anonymousId);
    this.#leaving.delete(key);
    this.#entries.set(key, { orgId, anonymousId, state, saved, at: this.#deps.clock.monotonic() });
  }

  forget(orgId: string, anonymousId: string): void {
    const key = keyOf(orgId, anonymousId);
    this.#entries.delete(key);
    this.#leaving.delete(key);
  }
  clear(): void {
    this.#entries.clear();
    this.#leaving.clear();
  }

  /** Saves all states that are ahead of the store. Call before another process owns the visitors. */
  saveAll(): Promise<void> {
    this.#savingAll ??= this.#save([...this.#entries.values(), ...this.#leaving.values()].filter(isAhead)).finally(() => {
      this.#savingAll = undefined;
    });
    return this.#savingAll;
  }

  #find(key: string): Entry | undefined {
    const leaving = this.#leaving.get(key);
    if (leaving === undefined) return this.#entries.get(key);
    this.#leaving.delete(key);
    this.#entries.set(key, leaving);
    return leaving;
  }

  #saveEvicted(evicted: ReadonlyMap<string, Entry>): void {
    for (const [key, entry] of evicted) if (isAhead(entry)) this.#leaving.set(key, entry);
    if (!this.#isSavingLeaving) void this.#saveLeaving();
  }
  async #saveLeaving(): Promise<void> {
    this.#isSavingLeaving = true;
    while (this.#leaving.size > 0) {
      const some = [...this.#leaving.entries().take(SAVED_AT_ONCE)];
      try {
        await this.#save(some.map(([, entry]) => entry));
      } catch (error) {
        this.#deps.logger.warn({ err: error }, 'visitors that left memory not saved, retrying');
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
        continue;
      }
      for (const [key, entry] of some) if (this.#leaving.get(key) === entry) this.#leaving.delete(key);
    }
    this.#isSavingLeaving = false;
  }
  /** Another process may have erased some of them, or own them by now, and an event of theirs may be stored meanwhile. */
  async #save(entries: readonly Entry[]): Promise<void> {
    for (const [orgId, own] of Map.groupBy(entries, (entry) => entry.orgId))
      for (let from = 0; from < own.length; from += SAVED_AT_ONCE) {
        const some = own.slice(from, from + SAVED_AT_ONCE);
        const replaced = await this.#deps.visitors.replace(
          orgId,
          some.map(({ anonymousId, saved, state }) => [anonymousId, saved, state]),
        );
        for (const [i, entry] of some.entries()) if (replaced[i]) entry.saved = entry.state;
      }
  }
}

function isAhead({ state, saved }: KnownVisitor): boolean {
  return state !== saved;
}
/** As stored: both come from the same writer. */
function areSame(one: VisitorState, other: VisitorState): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
function keyOf(orgId: string, anonymousId: string): string {
  return `${orgId}\n${anonymousId}`;
}
