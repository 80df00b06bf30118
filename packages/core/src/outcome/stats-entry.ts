/** What the statistics count in an interval: of events, their outcomes and their latency. */
export interface StatsEntry {
  received: number;
  /** By `browser`, `server` or the id of a webhook source. */
  received_by_source: Record<string, number>;
  rejected: number;
  rejected_by_reason: Record<string, number>;
  /** Rejected events of which no copy was kept. */
  rejected_dropped: number;
  duplicates: number;
  processed: number;
  dropped: Record<string, number>;
  /** Replays that were dropped. */
  dropped_again: Record<string, number>;
  delivered: number;
  retried: number;
  dead_lettered: number;
  /** Replays that failed for good. */
  dead_lettered_again: number;
  replayed: number;
  /** Processed events that violate the tracking plan, flagged or allowed. */
  plan_violations: number;
  p50_ms: number | null;
  p99_ms: number | null;
}

export function noOutcomes(): StatsEntry {
  return {
    received: 0,
    received_by_source: {},
    rejected: 0,
    rejected_by_reason: {},
    rejected_dropped: 0,
    duplicates: 0,
    processed: 0,
    dropped: {},
    dropped_again: {},
    delivered: 0,
    retried: 0,
    dead_lettered: 0,
    dead_lettered_again: 0,
    replayed: 0,
    plan_violations: 0,
    p50_ms: null,
    p99_ms: null,
  };
}
