import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { type LiveFrame, type LiveState, live, recentCounts } from './live.ts';
import type { CountsScope, RecentState } from './recent-counts.ts';

export function useLiveState(): LiveState {
  return useSyncExternalStore(live.subscribe, live.get);
}
/** Calls `onFrame` with every frame while the component is mounted and wants them; the newest closure is used. */
export function useLiveFrames(onFrame: (frame: LiveFrame) => void, isWanted = true): void {
  const latest = useRef(onFrame);
  useEffect(() => {
    latest.current = onFrame;
  });
  useEffect(() => (isWanted ? live.onFrame((frame) => latest.current(frame)) : undefined), [isWanted]);
}
/** The newest counts of the last minutes. Undefined: nothing is wanted, or nothing has arrived yet. */
export function useRecent(scope: CountsScope | undefined): RecentState | undefined {
  const key = scope && JSON.stringify(scope);
  const watch = useCallback((listener: () => void) => (key === undefined ? () => undefined : recentCounts.watch(key, listener)), [key]);
  return useSyncExternalStore(watch, () => (key === undefined ? undefined : recentCounts.get(key)));
}
