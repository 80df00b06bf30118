/**
 * Outcomes of events. Every role appends them to the log topic `outcomes`. One recorder turns them into traces, statistics and the
 * dead-letter index. The record id deduplicates a repeat after a crash.
 */
import type { CanonicalEvent, EventType } from '../event/canonical.ts';
import type { IngestEnvelope } from '../event/envelope.ts';

export type DeadLetterStage = 'ingest' | 'webhook' | 'processing' | 'mapping' | 'delivery';

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
  | 'disabled_by_event'
  | 'integration_deleted'
  | 'pipeline_deleted';

/** Codes of the errors that collection endpoints answer with. */
export type CollectionErrorCode =
  | 'invalid_json'
  | 'missing_field'
  | 'validation_failed'
  | 'invalid_pipeline_key'
  | 'pipeline_disabled'
  | 'invalid_signature'
  | 'invalid_challenge_token'
  | 'origin_not_allowed'
  | 'ip_not_allowed'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'rate_limited'
  | 'internal_error'
  | 'overloaded';
/** A webhook that could not be verified or mapped: it never became an event. */
export const WEBHOOK_REJECTED = 'webhook_rejected';
/** Rejected events are counted by code. The last three are webhooks that are answered 200: ignored, or kept as a dead letter. */
export type RejectionCode = CollectionErrorCode | 'unknown_source' | 'source_disabled' | typeof WEBHOOK_REJECTED;

export type ProcessingStep =
  | 'bots'
  | 'consent'
  | 'context'
  | 'custom_code'
  | 'identity'
  | 'memory'
  | 'pii'
  /** Not a step of its own: an unexpected error between the steps. */
  | 'processing'
  | 'routing'
  | 'session'
  | 'tracking_plan'
  | 'transformation';
export type StepResult =
  | 'allowed'
  | 'applied'
  | 'changed'
  | 'completed'
  | 'continued'
  | 'dropped'
  | 'enriched'
  | 'failed'
  | 'flagged'
  | 'gpc_denied'
  | 'human'
  | 'linked'
  | 'passed'
  | 'recognised'
  | 'resolved'
  | 'started';

/** The decision of one processing step, with the paths that it changed. */
export interface Decision {
  step: ProcessingStep;
  result: StepResult;
  changed?: string[];
  detail?: string;
}
/** Of a path or a text in a decision: both may hold names that a client chose. A decision with 1 MB may be too large for the log. */
const MAX_DECISION_TEXT = 300;
export function decisionText(text: string): string {
  return text.length <= MAX_DECISION_TEXT ? text : `${text.slice(0, MAX_DECISION_TEXT)}…`;
}

export interface Attempt {
  /** ISO 8601. */
  at: string;
  status: number | null;
  error: string | null;
  duration_ms: number;
  /** The beginning of the vendor's answer to a delivery that succeeded, for some of them. */
  answer?: string;
}

/** Of an outcome at an integration. */
interface AtRevision {
  /** The revision that decided or built the request. Unknown in what earlier versions wrote. A dead letter has its own. */
  revision_number?: number;
}

interface About {
  /** Milliseconds since 1970. */
  at: number;
  org_id: string;
  pipeline_id: string;
}
interface AboutOne extends About {
  event_id: string;
  /** The trace of the event is left out (TRACE_SAMPLE). It is counted, and its errors are traced. */
  untraced?: true;
}
/** What an error says about an untraced event, so that it can be found. Earlier versions left `received_at` out for others. */
type AboutUntraced = Partial<Omit<AboutEvent, keyof AboutOne>> & { received_at?: number };
interface AboutEvent extends AboutOne {
  /** The event was processed before and is processed again: a replay of a dead letter. */
  // `undefined` is allowed as a value: senders copy these fields from the event as they are, and JSON leaves them out.
  again?: true | undefined;
  type: EventType;
  original_type?: CanonicalEvent['original_type'] | undefined;
  event?: string | undefined;
  user_id?: string | undefined;
  anonymous_id?: string | undefined;
  /** The kind of endpoint that took the event, in outcomes of processing. Absent with `webhook_source_id`, and in earlier versions. */
  source?: 'browser' | 'server' | undefined;
  /** The source that the event came from, in outcomes of processing. */
  webhook_source_id?: string | undefined;
}

export type Outcome =
  /** Ingest sends these about once a second. A rejected event never reaches the log, so it leaves no other trace. */
  | ({
      kind: 'ingest_counts';
      received: number;
      rejected: Partial<Record<RejectionCode, number>>;
      duplicates: number;
      webhook_source_id?: string;
    } & About)
  /** Events that ingest rejected for their content: copies of them, and how many more there were. Counted by `ingest_counts`. */
  | ({ kind: 'rejected_events'; letters: DeadLetter[]; dropped: number } & About)
  /** The canonical event is in `events.<pipeline>`. */
  | ({
      kind: 'processed';
      received_at: number;
      decisions: Decision[];
      raw?: { topic: string; position: string };
      /** Position of the canonical event in `events.<pipeline>`. Unknown where a repeat after a crash found it already stored. */
      stored?: string | undefined;
      /** Of a dead letter of stage `processing`: the event was counted as received before. */
      replay?: boolean;
    } & AboutEvent)
  | ({
      kind: 'dropped';
      reason: DropReason;
      integration_id?: string;
      received_at: number;
      decisions?: Decision[];
      raw?: { topic: string; position: string };
      replay?: boolean;
    } & AtRevision &
      AboutEvent)
  | ({
      kind: 'delivered';
      integration_id: string;
      attempt: Attempt;
      received_at: number;
      duration_ms: number;
      replay?: boolean;
    } & AtRevision &
      AboutOne)
  /** The vendor took the event as a job; its result is polled. */
  | ({ kind: 'accepted_by_vendor'; integration_id: string; attempt: Attempt; due_at: number } & AtRevision & AboutOne & AboutUntraced)
  | ({ kind: 'retrying'; integration_id: string; attempt: Attempt; due_at: number } & AtRevision & AboutOne & AboutUntraced)
  | ({
      kind: 'dead_lettered';
      dead_letter: DeadLetter;
      /** Unknown in what earlier versions wrote about deliveries. */
      received_at?: number;
      /** Stage `processing` only: the decisions before it failed. */
      decisions?: Decision[];
      /** A replayed event is not counted again. */
      replay?: boolean;
    } & AboutEvent);

/** Stage `ingest`: the event as the client sent it. */
/** What is known of a sender that was refused: a replay checks it against the pipeline's present rules. */
export interface RejectedSender {
  origin?: string;
  /** Server pipelines only: where the request came from. */
  address?: string;
  /** Server pipelines only; absent where the request had no signature and needed none. `invalid`: also where it could not be verified. */
  signature?: 'valid' | 'invalid';
}

export interface RejectedEvent {
  /** Parsed, or the text where it is not JSON; without keys and challenge tokens. */
  raw: unknown;
  /** `raw` is JSON text: parsing would change a number in it. */
  inexact?: true;
  /** What is wrong with it. */
  message: string;
  received_at: string;
  /** The type that the path implies. */
  type?: string;
  /** Only the first 64 KB were kept, as text. */
  truncated?: true;
  /** Only of a request that was rejected for its sender. */
  sender?: RejectedSender;
  /** What the request said about the event, for a replay. `anonymous_id` is that of the cookie. */
  request: Pick<
    IngestEnvelope,
    'source' | 'ip' | 'user_agent' | 'cookies' | 'gpc' | 'sent_at' | 'context' | 'integrations' | 'anonymous_id'
  >;
}

/** A webhook that could not be verified or mapped. */
export interface RejectedWebhook {
  headers: Record<string, string>;
  query?: Record<string, string>;
  /** As text, unpacked where it came as gzip. */
  body: string;
  /** The bytes that were signed, where `body` does not give them back. */
  body_base64?: string;
  /** The URLs under which the sender may have signed. */
  urls?: string[];
  received_at: string;
  /** `body` was cut. */
  truncated?: boolean;
}

/** Stage `delivery`: what names an event whose dead letter was too large for the log. */
export interface TruncatedEvent extends Pick<CanonicalEvent, 'event_id' | 'type' | 'timestamp'> {
  event: string | undefined;
  anonymous_id: string | undefined;
  user_id: string | undefined;
  truncated: true;
}

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
  /** The canonical event. Stage `processing`: as far as it was built. Stage `webhook`: the raw request. */
  event: CanonicalEvent | TruncatedEvent | RejectedEvent | RejectedWebhook;
  attempts: Attempt[];
  reason: string;
  created_at: string;
  expires_at: string;
  /** Stage `processing` only: position of the raw record in the log, so that a replay starts from it. */
  raw?: { topic: string; position: string };
}
