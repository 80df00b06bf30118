/** Live frames folded into rows, newest first. Bounded, and handed to React at most four times a second. */
import { useEffect, useRef, useState } from 'react';
import type { LiveFrame } from '../../live/live.ts';
import { useLiveFrames } from '../../live/use-live.ts';

export interface Verdict {
  integration_id: string;
  status: string;
}
export interface Row {
  event_id: string;
  pipeline_id: string;
  type: string;
  event_name: string | null;
  user_id: string | null;
  anonymous_id: string | null;
  received_at: string;
  status: string;
  reason: string | null;
  event: Record<string, unknown> | null;
  verdicts: Verdict[];
}
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
      event: null,
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
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** A rejected event has no canonical form: its row shows what was sent, as far as it can be read. */
export function rowOf(
  listed: Omit<Row, 'verdicts'> | (Pick<Row, 'event_id' | 'pipeline_id' | 'received_at' | 'status' | 'reason'> & { raw: unknown }),
): Omit<Row, 'verdicts'> {
  if (!('raw' in listed)) return listed;
  const { raw, event_id, pipeline_id, received_at, status, reason } = listed;
  const sent = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>;
  return {
    event_id,
    pipeline_id,
    received_at,
    status,
    reason,
    type: text(sent.type) ?? 'track',
    event_name: text(sent.event),
    user_id: text(sent.userId),
    anonymous_id: text(sent.anonymousId),
    event: null,
  };
}

/** Live rows before the listed ones; an event that is in both is shown once, with what the API knows and the newest verdicts. */
export function mergeLive(live: Row[], listed: readonly (Omit<Row, 'verdicts'> & { verdicts?: Verdict[] })[]): Row[] {
  const known = new Map(listed.map((row) => [row.event_id, row]));
  const fresh = live.filter(({ event_id }) => !known.has(event_id));
  const moved = new Map(live.map((row) => [row.event_id, row]));
  return [
    ...fresh,
    ...listed.map((row) => {
      const now = moved.get(row.event_id);
      return { ...row, verdicts: now !== undefined && now.verdicts.length > 0 ? now.verdicts : (row.verdicts ?? []) };
    }),
  ];
}
