/** Live frames folded into rows, oldest first. */
import type { LiveFrame } from '../../live/connection.ts';
import { type Row, rowKey, shownOf, text } from './rows.ts';

const MOST_LIVE_ROWS = 2_000;

export interface LiveRow extends Row {
  /** False while only frames of deliveries have come: the event may be an old one that is retried or replayed. */
  isNew: boolean;
  /** The page's own clock when the first frame came. */
  seenAt: number;
}
export type LiveRows = Map<string, LiveRow>;

/** A frame begins a row or moves the verdict of one integration on. Answers false where an older row had to go. */
export function fold(rows: LiveRows, frame: LiveFrame, now: number): boolean {
  if (frame.event_id === null || frame.pipeline_id === null) return true;
  const key = rowKey({ event_id: frame.event_id, pipeline_id: frame.pipeline_id });
  const row = rows.get(key) ?? {
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
    isNew: false,
    seenAt: now,
  };
  const seen = { ...row, event_name: row.event_name ?? frame.event, type: frame.type ?? row.type };
  if (frame.payload !== null && typeof frame.payload === 'object') {
    const payload = frame.payload as Record<string, unknown>;
    seen.user_id ??= text(payload.user_id) ?? text(payload.userId);
    seen.anonymous_id ??= text(payload.anonymous_id) ?? text(payload.anonymousId);
    if (frame.integration_id === null) Object.assign(seen, shownOf(payload));
  }
  if (frame.integration_id === null) {
    seen.isNew = true;
    seen.status = frame.stage;
    seen.reason = frame.reason;
  } else {
    const verdict = { integration_id: frame.integration_id, status: frame.stage };
    seen.verdicts = [...row.verdicts.filter(({ integration_id }) => integration_id !== frame.integration_id), verdict];
  }
  rows.set(key, seen);
  if (rows.size <= MOST_LIVE_ROWS) return true;
  const [[oldestKey, oldest] = []] = rows;
  if (oldestKey !== undefined) rows.delete(oldestKey);
  return oldest?.isNew !== true;
}

/** Adds rows of the API's list for which no frame came. */
export function fill(rows: LiveRows, listed: readonly Row[], now: number): void {
  for (const row of listed) {
    const key = rowKey(row);
    const live = rows.get(key);
    if (live?.isNew !== true) rows.set(key, { ...row, verdicts: live?.verdicts ?? row.verdicts, isNew: true, seenAt: now });
  }
}

/** Drops the rows that were first seen before. */
export function forget(rows: LiveRows, before: number): void {
  for (const [key, { seenAt }] of rows) if (seenAt < before) rows.delete(key);
}

/** As the table shows them. A row that was filled in later stands where it belongs. */
export const newestFirst = (rows: LiveRows): LiveRow[] =>
  [...rows.values()]
    .reverse()
    .sort((one, other) => (one.received_at < other.received_at ? 1 : one.received_at > other.received_at ? -1 : 0));
