import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { type FrameScope, type LiveFrame, type LiveState, live, recentCounts } from './live.ts';
import type { CountsScope, RecentState } from './recent-counts.ts';

export function useLiveState(): LiveState {
  return useSyncExternalStore(live.subscribe, live.get);
}
/** Calls `onFrame` with every frame of the scope while the component is mounted; the newest closure is used. Undefined: none are wanted. */
export function useLiveFrames(scope: FrameScope | undefined, onFrame: (frame: LiveFrame) => void): void {
  const latest = useRef(onFrame);
  useEffect(() => {
    latest.current = onFrame;
  });
  const key = scope && JSON.stringify(scope);
  useEffect(() => (key === undefined ? undefined : live.onFrame(JSON.parse(key) as FrameScope, (frame) => latest.current(frame))), [key]);
}
/** The newest counts of the last minutes. Undefined: nothing is wanted, or nothing has arrived yet. */
export function useRecent(scope: CountsScope | undefined): RecentState | undefined {
  const key = scope && JSON.stringify(scope);
  const watch = useCallback((listener: () => void) => (key === undefined ? () => undefined : recentCounts.watch(key, listener)), [key]);
  return useSyncExternalStore(watch, () => (key === undefined ? undefined : recentCounts.get(key)));
}
