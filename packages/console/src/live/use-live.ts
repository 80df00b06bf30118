import { useEffect, useRef, useSyncExternalStore } from 'react';
import { type LiveFrame, type LiveState, live } from './live.ts';

export function useLiveState(): LiveState {
  return useSyncExternalStore(live.subscribe, live.get);
}
/** Calls `onFrame` with every frame while the component is mounted; the newest closure is used. */
export function useLiveFrames(onFrame: (frame: LiveFrame) => void): void {
  const latest = useRef(onFrame);
  useEffect(() => {
    latest.current = onFrame;
  });
  useEffect(() => live.onFrame((frame) => latest.current(frame)), []);
}
