/**
 * Queryable results of events: traces, counters by minute, dead letters, health. Only the recorder writes them, in transactions that
 * include its position in the log, so nothing is counted twice.
 */
import type { Kysely } from 'kysely';
import type { ReadThread } from './read-thread.ts';
import { prepareSegments } from './segments.ts';
import { CAUSE_COLUMNS, EARLIER_TRACES, type Engine, type ObserveTables, TABLES } from './tables.ts';
import type { Writer } from './writer.ts';

export interface ObserveDb {
  db: Kysely<ObserveTables>;
  engine: Engine;
  /** Absent inside the thread. */
  thread?: ReadThread;
}
/** As the main thread has it. */
export type ObserveStore = ObserveDb & Required<Pick<ObserveDb, 'thread'>>;

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
/** PostgreSQL only. */
const LATER_INDEXES: [name: string, on: string][] = [
  ['trace_events_by_org_time', 'trace_events (org_id, received_at, event_id)'],
  ['trace_events_by_id', 'trace_events (org_id, event_id)'],
  ['trace_events_by_visitor', 'trace_events (org_id, anonymous_id) where anonymous_id is not null'],
];
const SMALL_ROWS = 100_000;

/**
 * Creates missing tables, columns and indexes. Tables only ever gain columns that may be null, so two versions of the program can share
 * them. In SQLite, `trace_events` and `trace_steps` hold what versions before segments wrote, until `adoptRows` has moved it.
 */
export async function prepareObserve(writer: Writer): Promise<void> {
  const { engine } = writer;
  await writer.transaction(async (tx) => {
    if (engine === 'postgres') await tx.all('select pg_advisory_xact_lock(727274)');
    const typeOf = (type: string) => (type === 'bytes' ? (engine === 'postgres' ? 'bytea' : 'blob') : type);
    for (const [table, { columns, required, key }] of Object.entries(tablesOf(engine))) {
      const lines = Object.entries(columns).map(([name, type]) => `${name} ${typeOf(type)}${required.includes(name) ? ' not null' : ''}`);
      if (key) lines.push(`primary key (${key.join(', ')})`);
      const rowless = engine === 'sqlite' && key && table !== 'dead_letters' ? ' without rowid' : '';
      await tx.run(`create table if not exists ${table} (${lines.join(', ')})${rowless}`);
      const present = await columnsOf(tx, table);
      for (const [name, type] of Object.entries(columns))
        if (!present.has(name)) await tx.run(`alter table ${table} add column ${name} ${typeOf(type)}`);
    }
    for (const [name, on] of INDEXES) await tx.run(`create index if not exists ${name} on ${on}`);
    if (engine === 'sqlite') await prepareSegments(tx);
    else {
      if (await isSmall(tx)) for (const [name, on] of LATER_INDEXES) await tx.run(`create index if not exists ${name} on ${on}`);
      for (const [name, on] of [...INDEXES, ...LATER_INDEXES].filter(([, on]) => on.startsWith('trace_events ')))
        await tx.run(`create index if not exists earlier_${name} on earlier_${on}`);
    }
  });
}

function tablesOf(engine: Engine): Record<string, Pick<(typeof TABLES)[keyof ObserveTables], 'columns' | 'required' | 'key'>> {
  if (engine === 'sqlite') return TABLES;
  const { columns, required } = TABLES.trace_events;
  return { ...TABLES, [EARLIER_TRACES]: { columns, required } };
}

/** The statements for indexes that the start leaves to the operator. Changes nothing. */
export async function indexesByHand(writer: Writer): Promise<string[]> {
  if (writer.engine === 'sqlite' || (await isSmall(writer))) return [];
  const rows = await writer.all<{ name: string }>('select indexname as name from pg_indexes where schemaname = current_schema()');
  const present = new Set(rows.map(({ name }) => name));
  return LATER_INDEXES.filter(([name]) => !present.has(name)).map(
    ([name, on]) => `create index concurrently if not exists ${name} on ${on};`,
  );
}

/** Creating an index locks the table. On a large one that is a decision of the operator: the upgrade guide has the statements. */
async function isSmall(writer: Writer): Promise<boolean> {
  const [found] = await writer.all<{ n: number }>("select reltuples::bigint as n from pg_class where oid = to_regclass('trace_events')");
  return Number(found?.n ?? 0) < SMALL_ROWS;
}

async function columnsOf(writer: Writer, table: string): Promise<Set<string>> {
  const query =
    writer.engine === 'postgres'
      ? 'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = ?'
      : 'select name from pragma_table_info(?)';
  return new Set((await writer.all<{ name: string }>(query, [table])).map(({ name }) => name));
}
