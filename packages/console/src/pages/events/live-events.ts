/** Live frames folded into rows, newest first. Bounded, and handed to React at most four times a second. */
import { useEffect, useRef, useState } from 'react';
import type { LiveFrame } from '../../live/live.ts';
import { useLiveFrames } from '../../live/use-live.ts';
import { type Row, shownOf, text } from './rows.ts';

const MOST_LIVE_ROWS = 2_000;
const SHOW_EVERY_MS = 250;

export function useLiveEvents(enabled: boolean, filter: { pipeline: string | undefined; event: string | undefined }): Row[] {
  const [shown, setShown] = useState<Row[]>([]);
  const rows = useRef(new Map<string, Row>());
  const dirty = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter starts an empty list
  useEffect(() => {
    rows.current = new Map();
    setShown([]);
  }, [filter.pipeline, filter.event]);
  useLiveFrames((frame) => {
    if (!enabled || frame.event_id === null || frame.pipeline_id === null || !matches(frame, filter)) return;
    fold(rows.current, frame);
    dirty.current = true;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!dirty.current) return;
      dirty.current = false;
      setShown([...rows.current.values()].reverse());
    }, SHOW_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return shown;
}

export function matches(frame: LiveFrame, { pipeline, event }: { pipeline: string | undefined; event: string | undefined }): boolean {
  if (pipeline !== undefined && frame.pipeline_id !== pipeline) return false;
  if (event === undefined) return true;
  return event.startsWith('@') ? frame.type === event.slice(1) : frame.event === event;
}

/** A frame begins a row or moves the verdict of one integration on. */
export function fold(rows: Map<string, Row>, frame: LiveFrame): void {
  if (frame.event_id === null || frame.pipeline_id === null) return;
  let row = rows.get(frame.event_id);
  if (row === undefined) {
    row = {
      event_id: frame.event_id,
      pipeline_id: frame.pipeline_id,
      type: frame.type ?? 'track',
      event_name: frame.event,
      user_id: null,
      anonymous_id: null,
      received_at: frame.time,
      status: frame.stage,
      reason: frame.reason,
      ...shownOf(null),
      verdicts: [],
    };
    rows.set(frame.event_id, row);
    const oldest = rows.size > MOST_LIVE_ROWS ? rows.keys().next().value : undefined;
    if (oldest !== undefined) rows.delete(oldest);
  }
  const seen = { ...row, event_name: row.event_name ?? frame.event, type: frame.type ?? row.type };
  if (frame.payload !== null && typeof frame.payload === 'object') {
    const payload = frame.payload as Record<string, unknown>;
    seen.user_id ??= text(payload.user_id) ?? text(payload.userId);
    seen.anonymous_id ??= text(payload.anonymous_id) ?? text(payload.anonymousId);
    if (frame.integration_id === null) Object.assign(seen, shownOf(payload));
  }
  if (frame.integration_id === null) {
    seen.status = frame.stage;
    seen.reason = frame.reason;
  } else {
    const verdict = { integration_id: frame.integration_id, status: frame.stage };
    seen.verdicts = [...row.verdicts.filter(({ integration_id }) => integration_id !== frame.integration_id), verdict];
  }
  rows.set(frame.event_id, seen);
}
