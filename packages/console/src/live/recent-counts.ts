/** The counts of the last minutes that the pages in view need, from the one connection of the tab. */
import type { components } from '../generated/api.d.ts';
import type { CountsMessage, Live } from './connection.ts';

type Entry = components['schemas']['StatisticsEntry'];
/** Zeros are left out. */
export type RecentEntry = Partial<Omit<Entry, 'time'>> & Pick<Entry, 'time'>;
export interface Recent {
  series: RecentEntry[];
  waiting: number;
  groups?: { id: string; series: RecentEntry[] }[];
}
export interface RecentState {
  counts: Recent;
  /** When they were read, by the clock of the service and by that of the browser. */
  time: number;
  heardAt: number;
  /** False once they no longer arrive. */
  isFresh: boolean;
}
export interface CountsScope {
  pipeline_id?: string;
  pipeline_ids?: string;
  group_by?: 'pipeline_id' | 'integration_id';
}
/** They come every two seconds; a busy service sends them less often. */
const FRESH_MS = 30_000;

export function createRecentCounts(live: Pick<Live, 'get' | 'subscribe' | 'askCounts' | 'onCounts'>) {
  const wanted = new Map<string, { scope: CountsScope; listeners: Set<() => void>; state?: RecentState }>();
  let isAsking = false;
  let aging: ReturnType<typeof setInterval> | undefined;

  /** A page that replaces another changes several at once. */
  function askSoon(): void {
    if (isAsking) return;
    isAsking = true;
    queueMicrotask(() => {
      isAsking = false;
      live.askCounts([...wanted.values()].map(({ scope }) => scope));
    });
  }
  live.onCounts(({ scope, counts, time }: CountsMessage) => {
    const entry = wanted.get(JSON.stringify(scope));
    if (entry === undefined) return;
    entry.state = { counts: counts as Recent, time: Date.parse(time), heardAt: Date.now(), isFresh: true };
    for (const listener of entry.listeners) listener();
  });
  function age(): void {
    const isLive = live.get().status === 'live';
    for (const entry of wanted.values()) {
      if (!entry.state?.isFresh || (isLive && Date.now() - entry.state.heardAt <= FRESH_MS)) continue;
      entry.state = { ...entry.state, isFresh: false };
      for (const listener of entry.listeners) listener();
    }
  }
  live.subscribe(age);
  return {
    get: (key: string): RecentState | undefined => wanted.get(key)?.state,
    /** `key`: the scope as JSON, its fields in the order of `CountsScope`. */
    watch(key: string, listener: () => void): () => void {
      aging ??= setInterval(age, 5_000);
      let entry = wanted.get(key);
      if (entry === undefined) {
        wanted.set(key, (entry = { scope: JSON.parse(key) as CountsScope, listeners: new Set() }));
        askSoon();
      }
      const { listeners } = entry;
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        wanted.delete(key);
        askSoon();
        if (wanted.size > 0) return;
        clearInterval(aging);
        aging = undefined;
      };
    },
  };
}
