/** Live frames as rows, newest first. Bounded, and handed to React at most four times a second. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { FrameScope } from '../../live/live.ts';
import { useLiveFrames, useLiveState } from '../../live/use-live.ts';
import { fill, fold, forget, type LiveRow, type LiveRows, newestFirst } from './live-rows.ts';
import type { Row } from './rows.ts';

const SHOW_EVERY_MS = 250;
/** A trace is written within this time: an older row is in the list of the API. */
const TRACED_AFTER_MS = 10_000;

/**
 * Why events may be missing between the list and the live rows. `away`: the page did not listen for a while, and the list may lack what came
 * just before. `many`: more came than the page was sent or can hold.
 */
export interface Gap {
  why: 'away' | 'many';
}
const tooMany = (before: Gap | undefined): Gap => (before?.why === 'many' ? before : { why: 'many' });

export interface LiveEvents {
  rows: readonly LiveRow[];
  gap: Gap | undefined;
  /** Closes the gap with the newest rows of the API. */
  close(newest: readonly Row[]): void;
  /** The newest rows of the API do not reach back to the list. */
  leaveOpen(): void;
  /** The list was read again: it has all events older than a few seconds. */
  restart(): void;
}

export function useLiveEvents(enabled: boolean, scope: FrameScope): LiveEvents {
  const { status, since, skipped } = useLiveState();
  const [shown, setShown] = useState<readonly LiveRow[]>([]);
  const [gap, setGap] = useState<Gap>();
  const rows = useRef<LiveRows>(new Map());
  const dirty = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another scope starts an empty list
  useEffect(() => {
    rows.current = new Map();
    setShown([]);
    setGap(undefined);
  }, [scope.pipeline_id, scope.event]);
  const isListening = enabled && status === 'live';
  // biome-ignore lint/correctness/useExhaustiveDependencies: each connection and each scope begins with a gap
  useEffect(() => {
    if (isListening) setGap({ why: 'away' });
  }, [isListening, since, scope.pipeline_id, scope.event]);
  useEffect(() => {
    if (enabled && skipped > 0) setGap(tooMany);
  }, [enabled, skipped]);
  useLiveFrames(enabled ? scope : undefined, (frame) => {
    if (!fold(rows.current, frame, Date.now())) setGap(tooMany);
    dirty.current = true;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!dirty.current) return;
      dirty.current = false;
      setShown(newestFirst(rows.current));
    }, SHOW_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const close = useCallback((newest: readonly Row[]) => {
    fill(rows.current, newest, Date.now());
    setShown(newestFirst(rows.current));
    setGap(undefined);
  }, []);
  const leaveOpen = useCallback(() => setGap(tooMany), []);
  const restart = useCallback(() => {
    forget(rows.current, Date.now() - TRACED_AFTER_MS);
    setShown(newestFirst(rows.current));
    setGap(undefined);
  }, []);
  return { rows: shown, gap, close, leaveOpen, restart };
}
