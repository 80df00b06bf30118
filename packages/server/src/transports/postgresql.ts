/**
 * Rows in PostgreSQL. One statement per table inserts a batch, one transaction holds them all. A row whose key exists is replaced, so a
 * repeat stores nothing twice.
 */
import type { Cell, Column } from '@firsthand/core/tables/columns.ts';
import { POSTGRESQL, quoted, readColumn } from '@firsthand/core/tables/dialects.ts';
import pg from 'pg';
import { DestinationRefused } from '../outbound/resolver.ts';
import { errorText } from '../runtime/error-text.ts';
import { GuardedSocket } from './guarded-socket.ts';
import type { OpenTransport } from './port.ts';
import { binaryArray } from './postgresql-array.ts';
import { usingConnection } from './tables/pooled.ts';
import type { Load, StoreFailure, TableRef, TableStore } from './tables/store.ts';
import { openTables, readTableSettings } from './tables/writer.ts';

const MAX_CONNECTIONS = 4;
const IDLE_MS = 30_000;
/** A reader's long query must not stop delivery: a change that cannot get its lock is tried again. */
const LOCK_MS = 5_000;

/** `url`, `ssl` (`disable`, `require`, `verify`), `ca` and the settings of `readTableSettings`. */
export const openPostgresql: OpenTransport = (connection, options) => {
  const pool = new pg.Pool({
    connectionString: withoutTls(connection.url ?? ''),
    max: MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    ...(connection.ssl === 'disable'
      ? {}
      : { ssl: { rejectUnauthorized: connection.ssl !== 'require', ...(connection.ca ? { ca: connection.ca } : {}) } }),
    stream: () => new GuardedSocket(options),
  });
  // An idle connection that the server ends is replaced by the next query.
  pool.on('error', () => undefined);
  // The pool listens only to idle connections. One that ends between two statements would end the process; the next statement fails instead.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return openTables(postgresqlStore(pool), readTableSettings(connection));
};

/**
 * The setting decides about TLS. The client would let the URL overrule it (`sslmode=disable`), and read files of this machine that the URL
 * names (`sslrootcert`).
 */
function withoutTls(url: string): string {
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const name of [...parameters.keys()]) if (/^(?:ssl|uselibpqcompat)/i.test(name)) parameters.delete(name);
  return parameters.size === 0 ? address : `${address}?${parameters}`;
}

function postgresqlStore(pool: pg.Pool): TableStore {
  const pooled = {
    connect: () => pool.connect(),
    release: (client: pg.PoolClient) => client.release(),
    destroy: (client: pg.PoolClient) => client.release(true),
  };
  const using = <T>(deadline: number, work: (client: pg.PoolClient) => Promise<T>) => usingConnection(pooled, deadline, work);
  /** Changes of one table wait for each other, also between processes. */
  function change(table: TableRef, deadline: number, sql: string[]): Promise<void> {
    return using(deadline, async (client) => {
      await client.query(`begin; set local lock_timeout = ${LOCK_MS}`);
      await client.query('select pg_advisory_xact_lock(hashtext($1))', [`firsthand ${nameOf(table)}`]);
      for (const statement of sql) await client.query(statement);
      await client.query('commit');
    });
  }

  return {
    dialect: POSTGRESQL,
    describe(table, deadline) {
      return using(deadline, async (client) => {
        const { rows } = await client.query<{ name: string; type: string }>(DESCRIBE, [nameOf(table)]);
        return rows.length === 0 ? undefined : rows.map(({ name, type }) => readColumn(name, type, POSTGRESQL));
      });
    },
    countTables(schema, deadline) {
      return using(deadline, async (client) => {
        const { rows } = await client.query<{ count: string }>(
          'select count(*) from pg_tables where schemaname = coalesce($1, current_schema())',
          [schema ?? null],
        );
        return Number(rows[0]?.count ?? 0);
      });
    },
    async create(table, { key }, columns, deadline) {
      const list = columns.map((column) => `${definition(column)}${column.name === key ? ' primary key' : ''}`);
      const create = `create table if not exists ${nameOf(table)} (${list.join(', ')})`;
      try {
        await change(table, deadline, [create]);
      } catch (error) {
        if (sqlState(error) !== '3F000' || table.schema === undefined) throw error;
        await change(table, deadline, [`create schema if not exists ${quoted(table.schema, POSTGRESQL)}`, create]);
      }
    },
    addColumns(table, columns, deadline) {
      const list = columns.map((column) => `add column if not exists ${definition(column)}`);
      return change(table, deadline, [`alter table ${nameOf(table)} ${list.join(', ')}`]);
    },
    async write(loads, deadline) {
      await using(deadline, async (client) => {
        const alone = loads.length === 1;
        if (!alone) await client.query('begin');
        // Two batches that lock the same rows in one order cannot deadlock.
        for (const load of loads.toSorted((a, b) => (nameOf(a.table) < nameOf(b.table) ? -1 : 1)))
          await client.query(insert(load), columnsOf(load.kind.latest ? sortedByKey(load) : load));
        if (!alone) await client.query('commit');
      });
      return [];
    },
    failure: failureOf,
    close: () => pool.end(),
  };
}

const DESCRIBE = `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
  where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = ''`;

function nameOf({ schema, name }: TableRef): string {
  return `${schema === undefined ? '' : `${quoted(schema, POSTGRESQL)}.`}${quoted(name, POSTGRESQL)}`;
}
function definition({ name, sql }: Column): string {
  return `${quoted(name, POSTGRESQL)} ${sql}`;
}

/** One parameter per column, a list of its values: a statement of a few rows and one of thousands have the same text. */
function insert({ table, kind, columns }: Load): string {
  const names = columns.map(({ name }) => quoted(name, POSTGRESQL));
  const [key = '', ...others] = names;
  const lists = columns.map(({ sql }, index) => `$${index + 1}::${sql.replace(/\([^()]*\)/, '')}[]`);
  const set = others.map((name) => `${name} = ${kind.latest ? `coalesce(excluded.${name}, old.${name})` : `excluded.${name}`}`);
  const newer = kind.latest ? ' where old.received_at is null or excluded.received_at >= old.received_at' : '';
  return `insert into ${nameOf(table)} as old (${names.join(', ')}) select * from unnest(${lists.join(', ')})
    on conflict (${key}) do ${set.length === 0 ? 'nothing' : `update set ${set.join(', ')}${newer}`}`;
}
function columnsOf({ columns, rows }: Load): (Cell[] | Buffer)[] {
  return columns.map(({ sql }, index) => {
    const cells = rows.map((row) => row[index] ?? null);
    return binaryArray(sql, cells) ?? cells;
  });
}
function sortedByKey(load: Load): Load {
  return { ...load, rows: load.rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)) };
}

function sqlState(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^[0-9A-Z]{5}$/.test(code) ? code : '';
}

/** Bad data 22, constraint 23; a row or a key that is too large for a page 54000. */
const OF_ONE_ROW = /^(?:22|23|54000)/;
/** Unknown table or column; added or created by another process at the same time. */
const CHANGED = new Set(['42P01', '42703', '42701', '42P07']);
/** Syntax and types 42, unsupported 0A: the same statement fails again. */
const PERMANENT = /^(?:42|0A)/;

function failureOf(error: unknown): StoreFailure {
  const state = sqlState(error);
  const reason = state === '' ? errorText(error) : `postgresql ${state}: ${errorText(error)}`;
  if (error instanceof DestinationRefused || (error as { code?: unknown })?.code === 'DESTINATION_REFUSED')
    return { kind: 'never', reason };
  if (OF_ONE_ROW.test(state)) return { kind: 'row', reason };
  if (CHANGED.has(state)) return { kind: 'schema', reason };
  if (state === '42501') return { kind: 'denied', reason };
  return { kind: PERMANENT.test(state) ? 'never' : 'later', reason };
}
