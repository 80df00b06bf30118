/** The rows of traces and counters, as the recorder writes them and queries read them. */
import type { OriginalType } from '@firsthand/core/event/canonical.ts';
import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';

/** `reason` of a row whose event has no trace (TRACE_SAMPLE), only drops and errors. */
export const UNTRACED = 'untraced';

export interface TraceEventRow {
  org_id: string;
  pipeline_id: string;
  event_id: string;
  received_at: number;
  processed_at: number;
  type: string;
  original_type: OriginalType | null;
  event: string | null;
  user_id: string | null;
  anonymous_id: string | null;
  result: Extract<Outcome['kind'], 'processed' | 'dropped' | 'dead_lettered'>;
  reason: string | null;
  decisions: string;
  raw_topic: string | null;
  raw_position: string | null;
  stored_position: string | null;
  /** `browser`, `server`, or the id of a webhook source. Null where it is not known: an untraced event, or one of an earlier version. */
  source: string | null;
}
export interface TraceStepRow {
  org_id: string;
  pipeline_id: string;
  event_id: string;
  integration_id: string;
  at: number;
  kind: Exclude<Outcome['kind'], 'ingest_counts' | 'processed'>;
  /** Of a delivery that succeeded: the beginning of the vendor's answer, where it is kept. */
  reason: string | null;
  status: number | null;
  duration_ms: number | null;
  due_at: number | null;
  /** The revision that decided or built the request. Null where an earlier version recorded it. */
  revision_number: number | null;
}
/** Two pipelines may have events of the same id. */
export const keyOfEvent = ({ pipeline_id, event_id }: Pick<TraceEventRow, 'pipeline_id' | 'event_id'>) => `${pipeline_id}\n${event_id}`;

/** The `reason` column apart: why an attempt failed or an event was dropped, or what the vendor answered to a success. */
export function reasonAndAnswer({ kind, reason }: Pick<TraceStepRow, 'kind' | 'reason'>): { reason: string | null; answer: string | null } {
  return kind === 'delivered' ? { reason: null, answer: reason } : { reason, answer: null };
}
export interface CounterRow {
  org_id: string;
  pipeline_id: string;
  /** Empty for counters of the pipeline as a whole. */
  integration_id: string;
  minute: number;
  counter: string;
  n: number;
}
/** For `stepsReceived` where times are not known. */
export const ANY_TIME = { first: 0, last: Number.MAX_SAFE_INTEGER };

export interface Tally {
  events: TraceEventRow[];
  /** Rows of `events` that are the repeat of an earlier event: their old rows go. */
  replacing: TraceEventRow[];
  /** Events without a trace that have a drop or an error. Written unless the event has a row. */
  untraced: TraceEventRow[];
  steps: TraceStepRow[];
  /** When the oldest and the newest event of the steps were received, or earlier and later if that is not known. Undefined without steps. */
  stepsReceived: { first: number; last: number } | undefined;
  /** The last delivery of each integration among events without a trace, for its health. */
  untracedSuccess: TraceStepRow[];
  /** The last event of each source, with the id of the source as `integration_id` and the time of receipt as `at`. */
  lastReceived: TraceStepRow[];
  counters: CounterRow[];
  deadLetters: DeadLetter[];
}
