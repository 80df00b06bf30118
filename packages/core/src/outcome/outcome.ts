/**
 * What became of an event. Every role writes these to the log topic `outcomes`; one recorder turns them into traces,
 * statistics and the dead-letter index. Their record id makes a repeat after a crash harmless.
 */
import type { CanonicalEvent } from '../event/canonical.ts';

export type DeadLetterStage = 'webhook' | 'processing' | 'mapping' | 'delivery';

export type DropReason =
  | 'bot'
  | 'routing_rule'
  | 'custom_code'
  | 'tracking_plan'
  | 'transformation'
  | 'consent_not_granted'
  | 'event_filtered'
  | 'mapping_default'
  | 'mapping_filter'
  | 'event_too_old'
  | `missing_required:${string}`
  | 'integration_disabled'
  | 'client_side'
  | 'integration_deleted'
  | 'pipeline_deleted';

/** One processing step's decision: which step, what it decided in a word, and the paths it changed. */
export interface Decision {
  step: string;
  result: string;
  changed?: string[];
  detail?: string;
}
export interface Attempt {
  /** ISO 8601. */
  at: string;
  status: number | null;
  error: string | null;
  duration_ms: number;
}

interface About {
  /** Milliseconds since 1970. */
  at: number;
  org_id: string;
  pipeline_id: string;
}
interface AboutOne extends About {
  event_id: string;
}
interface AboutEvent extends AboutOne {
  type: string;
  // `undefined` is allowed as a value: senders copy these fields from the event as they are, and JSON leaves them out.
  event?: string | undefined;
  user_id?: string | undefined;
  anonymous_id?: string | undefined;
}

export type Outcome =
  /** Counted by ingest in bulk, once a second or so: what never reached the log has no other trace. */
  | ({ kind: 'ingest_counts'; received: number; rejected: Record<string, number>; duplicates: number; webhook_source_id?: string } & About)
  /** The processor is done: the canonical event stands in `events.<pipeline>`, or was dropped with one reason word. */
  | ({
      kind: 'processed';
      received_at: number;
      decisions: Decision[];
      raw?: { topic: string; position: string };
      /** Where the canonical event stands in `events.<pipeline>`; unknown where a repeat after a crash found it there already. */
      stored?: string;
    } & AboutEvent)
  | ({
      kind: 'dropped';
      reason: DropReason;
      integration_id?: string;
      received_at: number;
      decisions?: Decision[];
      raw?: { topic: string; position: string };
      replay?: boolean;
    } & AboutEvent)
  | ({
      kind: 'delivered';
      integration_id: string;
      attempt: Attempt;
      received_at: number;
      duration_ms: number;
      replay?: boolean;
    } & AboutOne)
  /** The vendor took the event as a job; its result is polled. */
  | ({ kind: 'accepted_by_vendor'; integration_id: string; attempt: Attempt; due_at: number } & AboutOne)
  | ({ kind: 'retrying'; integration_id: string; attempt: Attempt; due_at: number } & AboutOne)
  | ({
      kind: 'dead_lettered';
      dead_letter: DeadLetter;
      /** Of stage `processing`: when it was accepted, and what had been decided until it failed. */
      received_at?: number;
      decisions?: Decision[];
      /** The event was counted before, when it first came to the integration. */
      replay?: boolean;
    } & AboutEvent);

export interface DeadLetter {
  id: string;
  org_id: string;
  pipeline_id: string;
  integration_id: string | null;
  webhook_source_id: string | null;
  vendor: string | null;
  revision_number: number | null;
  event_id: string;
  stage: DeadLetterStage;
  /** The canonical event; for stage `processing` what came in as far as it is canonical; for `webhook` the raw request. */
  event:
    | CanonicalEvent
    | { headers: Record<string, string>; query?: Record<string, string>; body: string; received_at: string; truncated?: boolean };
  attempts: Attempt[];
  reason: string;
  created_at: string;
  expires_at: string;
  /** Stage `processing`: where the raw record stands in the log, for a replay from the start. */
  raw?: { topic: string; position: string };
}
