/** Table definitions for both engines. Imports only types, to keep the recorder thread small. */
import type { DeadLetterStage } from '@firsthand/core/outcome/outcome.ts';
import type { CounterRow, TraceEventRow, TraceStepRow } from './rows.ts';

export const OBSERVE_FILE = 'observe.sqlite';

export interface DeadLetterRow {
  id: string;
  org_id: string;
  pipeline_id: string;
  integration_id: string | null;
  webhook_source_id: string | null;
  vendor: string | null;
  revision_number: number | null;
  event_id: string;
  user_id: string | null;
  anonymous_id: string | null;
  stage: DeadLetterStage;
  /** The event as UTF-8 JSON bytes, because PostgreSQL's text and jsonb reject NUL. */
  event: Uint8Array;
  attempts: string;
  reason: string;
  status: 'pending' | 'replayed';
  created_at: number;
  expires_at: number;
  raw_topic: string | null;
  raw_position: string | null;
}
/** Dead letters with equal values in these columns have the same cause. */
export const CAUSE_COLUMNS = ['pipeline_id', 'integration_id', 'webhook_source_id', 'vendor', 'stage', 'reason'] as const;

export interface HealthRow {
  integration_id: string;
  last_success_at: number | null;
  last_error: string | null;
  last_error_at: number | null;
}
export interface ObserveTables {
  trace_events: TraceEventRow;
  trace_steps: TraceStepRow;
  counters: CounterRow;
  dead_letters: DeadLetterRow;
  integration_health: HealthRow;
  recorder: { name: string; position: string };
}
export type Engine = 'sqlite' | 'postgres';

type ColumnType = 'text' | 'bigint' | 'integer' | 'bytes';
export const TABLES: Record<keyof ObserveTables, { columns: Record<string, ColumnType>; required: string[]; key?: string[] }> = {
  trace_events: {
    columns: {
      org_id: 'text',
      pipeline_id: 'text',
      event_id: 'text',
      received_at: 'bigint',
      processed_at: 'bigint',
      type: 'text',
      event: 'text',
      user_id: 'text',
      anonymous_id: 'text',
      result: 'text',
      reason: 'text',
      decisions: 'text',
      raw_topic: 'text',
      raw_position: 'text',
      stored_position: 'text',
      original_type: 'text',
      source: 'text',
    },
    required: ['org_id', 'pipeline_id', 'event_id', 'received_at', 'processed_at', 'type', 'result', 'decisions'],
    key: ['pipeline_id', 'event_id'],
  },
  trace_steps: {
    columns: {
      org_id: 'text',
      pipeline_id: 'text',
      event_id: 'text',
      integration_id: 'text',
      at: 'bigint',
      kind: 'text',
      reason: 'text',
      status: 'integer',
      duration_ms: 'bigint',
      due_at: 'bigint',
      revision_number: 'integer',
    },
    required: ['org_id', 'pipeline_id', 'event_id', 'integration_id', 'at', 'kind'],
  },
  counters: {
    columns: { org_id: 'text', pipeline_id: 'text', integration_id: 'text', minute: 'bigint', counter: 'text', n: 'bigint' },
    required: ['org_id', 'pipeline_id', 'integration_id', 'minute', 'counter', 'n'],
    key: ['org_id', 'pipeline_id', 'integration_id', 'minute', 'counter'],
  },
  dead_letters: {
    columns: {
      id: 'text',
      org_id: 'text',
      pipeline_id: 'text',
      integration_id: 'text',
      webhook_source_id: 'text',
      vendor: 'text',
      revision_number: 'integer',
      event_id: 'text',
      user_id: 'text',
      anonymous_id: 'text',
      stage: 'text',
      event: 'bytes',
      attempts: 'text',
      reason: 'text',
      status: 'text',
      created_at: 'bigint',
      expires_at: 'bigint',
      raw_topic: 'text',
      raw_position: 'text',
    },
    required: ['id', 'org_id', 'pipeline_id', 'event_id', 'stage', 'event', 'attempts', 'reason', 'status', 'created_at', 'expires_at'],
    key: ['id'],
  },
  integration_health: {
    columns: { integration_id: 'text', last_success_at: 'bigint', last_error: 'text', last_error_at: 'bigint' },
    required: ['integration_id'],
    key: ['integration_id'],
  },
  recorder: { columns: { name: 'text', position: 'text' }, required: ['name', 'position'], key: ['name'] },
};

/** PostgreSQL only, with the columns of `trace_events`: see `write-tables.ts`. */
export const EARLIER_TRACES = 'earlier_trace_events';
