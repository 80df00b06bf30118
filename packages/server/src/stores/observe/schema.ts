/**
 * Queryable results of events: traces, counters by minute, dead letters, health. Only the recorder writes them, in transactions that
 * include its position in the log, so nothing is counted twice.
 */
import { type Kysely, sql } from 'kysely';
import { CAUSE_COLUMNS, type Engine, type ObserveTables, TABLES } from './tables.ts';

export interface ObserveDb {
  db: Kysely<ObserveTables>;
  engine: Engine;
}

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
  // Covers every column that grouping reads, so that no event is loaded.
  ['dead_letters_by_cause', `dead_letters (${['org_id', ...CAUSE_COLUMNS, 'status', 'expires_at', 'created_at'].join(', ')})`],
  ['dead_letters_rejected', "dead_letters (pipeline_id, created_at) where stage = 'ingest'"],
  ['dead_letters_rejected_id', "dead_letters (org_id, event_id) where stage = 'ingest'"],
  ['dead_letters_age', 'dead_letters (expires_at)'],
];

/** Creates missing tables, columns and indexes. Tables only ever gain columns that may be null, so two versions of the program can share them. */
export async function prepareObserve({ db, engine }: ObserveDb): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (engine === 'postgres') await sql`select pg_advisory_xact_lock(727274)`.execute(tx);
    const typeOf = (type: string) => (type === 'bytes' ? (engine === 'postgres' ? 'bytea' : 'blob') : type);
    for (const [table, { columns, required, key }] of Object.entries(TABLES)) {
      const lines = Object.entries(columns).map(([name, type]) => `${name} ${typeOf(type)}${required.includes(name) ? ' not null' : ''}`);
      if (key) lines.push(`primary key (${key.join(', ')})`);
      const rowless = engine === 'sqlite' && key && table !== 'dead_letters' ? ' without rowid' : '';
      await sql.raw(`create table if not exists ${table} (${lines.join(', ')})${rowless}`).execute(tx);
      const present = await columnsOf(tx, engine, table);
      for (const [name, type] of Object.entries(columns))
        if (!present.has(name)) await sql.raw(`alter table ${table} add column ${name} ${typeOf(type)}`).execute(tx);
    }
    for (const [name, on] of INDEXES) await sql.raw(`create index if not exists ${name} on ${on}`).execute(tx);
  });
}

async function columnsOf(db: Kysely<ObserveTables>, engine: Engine, table: string): Promise<Set<string>> {
  const query =
    engine === 'postgres'
      ? sql<{
          name: string;
        }>`select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = ${table}`
      : sql<{ name: string }>`select name from pragma_table_info(${table})`;
  return new Set((await query.execute(db)).rows.map(({ name }) => name));
}
