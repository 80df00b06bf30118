/**
 * What became of events, in a form that answers questions: traces, counters by minute, dead letters, health.
 * Written by the recorder alone, in transactions that carry its position in the log: nothing is counted twice.
 */
import { type Kysely, sql } from 'kysely';
import type { CounterRow, TraceEventRow, TraceStepRow } from '../../outcomes/tally.ts';

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
  stage: string;
  /** The event as UTF-8 JSON, in bytes: PostgreSQL's text and jsonb refuse NUL. */
  event: Uint8Array;
  attempts: string;
  reason: string;
  status: 'pending' | 'replayed';
  created_at: number;
  expires_at: number;
  raw_topic: string | null;
  raw_position: string | null;
}
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
export interface ObserveDb {
  db: Kysely<ObserveTables>;
  engine: Engine;
}

type ColumnType = 'text' | 'bigint' | 'integer' | 'bytes';
const TABLES: Record<keyof ObserveTables, { columns: Record<string, ColumnType>; required: string[]; key?: string[] }> = {
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
const INDEXES: [name: string, on: string][] = [
  ['trace_events_by_time', 'trace_events (org_id, pipeline_id, received_at)'],
  ['trace_events_by_user', 'trace_events (org_id, user_id) where user_id is not null'],
  ['trace_events_age', 'trace_events (processed_at)'],
  ['trace_steps_by_event', 'trace_steps (pipeline_id, event_id)'],
  ['trace_steps_age', 'trace_steps (at)'],
  ['counters_age', 'counters (minute)'],
  ['dead_letters_by_time', 'dead_letters (org_id, created_at)'],
  ['dead_letters_by_integration', 'dead_letters (integration_id, created_at)'],
  ['dead_letters_by_source', 'dead_letters (webhook_source_id, created_at)'],
  ['dead_letters_age', 'dead_letters (expires_at)'],
];

/** Makes what is missing; tables only ever gain columns, so two versions of the program can share them. */
export async function prepareObserve({ db, engine }: ObserveDb): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (engine === 'postgres') await sql`select pg_advisory_xact_lock(727274)`.execute(tx);
    for (const [table, { columns, required, key }] of Object.entries(TABLES)) {
      const lines = Object.entries(columns).map(
        ([name, type]) =>
          `${name} ${type === 'bytes' ? (engine === 'postgres' ? 'bytea' : 'blob') : type}${required.includes(name) ? ' not null' : ''}`,
      );
      if (key) lines.push(`primary key (${key.join(', ')})`);
      const rowless = engine === 'sqlite' && key && table !== 'dead_letters' ? ' without rowid' : '';
      await sql.raw(`create table if not exists ${table} (${lines.join(', ')})${rowless}`).execute(tx);
    }
    for (const [name, on] of INDEXES) await sql.raw(`create index if not exists ${name} on ${on}`).execute(tx);
  });
}

/** Many rows in one statement with one parameter; both engines read them out of JSON faster than they bind. */
export async function insertRows<T extends keyof ObserveTables>(
  { db, engine }: ObserveDb,
  table: T,
  rows: readonly ObserveTables[T][],
  onConflict = '',
): Promise<void> {
  if (rows.length === 0) return;
  const columns = Object.entries(TABLES[table].columns);
  const names = columns.map(([name]) => name);
  const values = JSON.stringify(rows.map((row) => names.map((name) => (row as Record<string, unknown>)[name])));
  const read = columns.map(([, type], i) => (engine === 'postgres' ? `(e.value->>${i})::${type}` : `e.value->>${i}`)).join(', ');
  const from = engine === 'postgres' ? sql`json_array_elements(${values}::json) as e(value)` : sql`json_each(${values}) as e`;
  await sql`insert into ${sql.raw(table)} (${sql.raw(names.join(', '))}) select ${sql.raw(read)} from ${from} where true ${sql.raw(onConflict)}`.execute(
    db,
  );
}
