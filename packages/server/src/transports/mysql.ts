/**
 * Rows in MySQL or MariaDB. One statement per table inserts a batch, one transaction holds them all. A row whose key exists is replaced, so
 * a repeat stores nothing twice.
 */
import { isIP } from 'node:net';
import type { Cell, Column } from '@firsthand/core/tables/columns.ts';
import { MYSQL, quoted, readColumn } from '@firsthand/core/tables/dialects.ts';
import mysql from 'mysql2/promise';
import { errorText } from '../runtime/error-text.ts';
import { GuardedSocket } from './guarded-socket.ts';
import type { OpenTransport } from './port.ts';
import { usingConnection } from './tables/pooled.ts';
import type { Load, StoreFailure, TableRef, TableStore } from './tables/store.ts';
import { openTables, readTableSettings } from './tables/writer.ts';

const MAX_CONNECTIONS = 4;
const IDLE_MS = 30_000;
/** Below the smallest usual max_allowed_packet, 16 MiB. */
const MAX_STATEMENT = 8_000_000;
/** Times are UTC. Values that do not fit are errors instead of being cut. Backslashes escape, as the client expects. */
const SESSION = "set time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'";

/** `host`, `port`, `username`, `password`, `database`, `ssl` (`disable`, `require`, `verify`), `ca` and the settings of `readTableSettings`. */
export const openMysql: OpenTransport = (connection, options) => {
  const { host = '', port, username = '', password = '', database = '', ssl, ca } = connection;
  const pool = mysql.createPool({
    host,
    port: Number(port || 3306),
    user: username,
    password,
    database,
    connectionLimit: MAX_CONNECTIONS,
    maxIdle: MAX_CONNECTIONS,
    idleTimeout: IDLE_MS,
    charset: 'utf8mb4',
    ...(ssl === 'disable' ? {} : { ssl: tlsOf(host, ssl, ca) }),
    stream: () => new GuardedSocket(options).connect(Number(port || 3306), host),
  });
  return openTables(mysqlStore(pool), readTableSettings(connection));
};

/**
 * The client checks the name in a certificate only on request, and cannot check an address. A given authority then vouches alone; without
 * one an address is not trusted.
 */
function tlsOf(host: string, mode: string | undefined, ca: string | undefined): mysql.SslOptions {
  const verify = mode !== 'require';
  return { rejectUnauthorized: verify, verifyIdentity: verify && (isIP(host) === 0 || !ca), ...(ca ? { ca } : {}) };
}

function mysqlStore(pool: mysql.Pool): TableStore {
  const pooled = {
    connect: () => pool.getConnection(),
    release: (client: mysql.PoolConnection) => client.release(),
    destroy: (client: mysql.PoolConnection) => client.destroy(),
  };
  /** A new connection gets the session's settings before its first use. */
  const using = <T>(deadline: number, work: (client: mysql.PoolConnection) => Promise<T>) =>
    usingConnection(pooled, deadline, async (client) => {
      if (!prepared.has(client.connection)) {
        await client.query(SESSION);
        prepared.add(client.connection);
      }
      return work(client);
    });
  const rowsOf = async (client: mysql.PoolConnection, sql: string, values: unknown[]) =>
    (await client.query<mysql.RowDataPacket[]>(sql, values))[0];

  return {
    dialect: MYSQL,
    describe({ schema, name }, deadline) {
      return using(deadline, async (client) => {
        const sql = `select column_name as name, column_type as type from information_schema.columns
          where table_schema = coalesce(?, database()) and table_name = ? and coalesce(generation_expression, '') = ''`;
        const rows = await rowsOf(client, sql, [schema ?? null, name]);
        return rows.length === 0 ? undefined : rows.map((row) => readColumn(String(row.name), String(row.type), MYSQL));
      });
    },
    countTables(schema, deadline) {
      return using(deadline, async (client) => {
        const rows = await rowsOf(
          client,
          'select count(*) as count from information_schema.tables where table_schema = coalesce(?, database())',
          [schema ?? null],
        );
        return Number(rows[0]?.count ?? 0);
      });
    },
    create(table, { key }, columns, deadline) {
      const list = columns.map((column) =>
        column.name === key
          ? `${quoted(column.name, MYSQL)} varchar(255) character set utf8mb4 collate utf8mb4_bin primary key`
          : definition(column),
      );
      return using(deadline, async (client) => {
        await client.query(`create table if not exists ${nameOf(table)} (${list.join(', ')}) character set utf8mb4`);
      });
    },
    addColumns(table, columns, deadline) {
      const add = (some: readonly Column[]) =>
        `alter table ${nameOf(table)} ${some.map((one) => `add column ${definition(one)}`).join(', ')}`;
      return using(deadline, async (client) => {
        try {
          await client.query(add(columns));
        } catch (error) {
          // 1060: another process added one of them. MySQL has no "if not exists" for columns, so the others are added one by one.
          if (numberOf(error) !== 1060) throw error;
          for (const column of columns) {
            try {
              await client.query(add([column]));
            } catch (again) {
              if (numberOf(again) !== 1060) throw again;
            }
          }
        }
      });
    },
    async write(loads, deadline) {
      await using(deadline, async (client) => {
        const statements = loads.toSorted((a, b) => (nameOf(a.table) < nameOf(b.table) ? -1 : 1)).flatMap(inserts);
        if (statements.length > 1) await client.query('start transaction');
        for (const statement of statements) await client.query(statement);
        if (statements.length > 1) await client.query('commit');
      });
      return [];
    },
    failure: failureOf,
    close: () => pool.end(),
  };
}

function nameOf({ schema, name }: TableRef): string {
  return `${schema === undefined ? '' : `${quoted(schema, MYSQL)}.`}${quoted(name, MYSQL)}`;
}
function definition({ name, sql }: Column): string {
  return `${quoted(name, MYSQL)} ${sql}`;
}

/** Usually one statement; more where the rows exceed what the server takes at once. */
function inserts({ table, kind, columns, rows }: Load): string[] {
  const names = columns.map(({ name }) => quoted(name, MYSQL));
  const [key = '', ...others] = names;
  // The time is set last: the other columns compare with the old one.
  const last = quoted('received_at', MYSQL);
  const ordered = kind.latest ? others.toSorted((a, b) => Number(a === last) - Number(b === last)) : others;
  const set = ordered.map((name) =>
    kind.latest
      ? `${name} = if(${last} is null or values(${last}) >= ${last}, coalesce(values(${name}), ${name}), ${name})`
      : `${name} = values(${name})`,
  );
  const head = `insert into ${nameOf(table)} (${names.join(', ')}) values `;
  const tail = ` on duplicate key update ${set.length === 0 ? `${key} = ${key}` : set.join(', ')}`;
  const sorted = kind.latest ? rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)) : rows;
  const statements: string[] = [];
  let values: string[] = [];
  let size = 0;
  const flush = () => {
    if (values.length > 0) statements.push(head + values.join(', ') + tail);
    values = [];
    size = 0;
  };
  for (const row of sorted) {
    const text = `(${columns.map((_, index) => literal(row[index])).join(', ')})`;
    if (size + text.length > MAX_STATEMENT) flush();
    values.push(text);
    size += text.length;
  }
  flush();
  return statements;
}
function literal(cell: Cell | undefined): string {
  return mysql.escape(cell ?? null);
}

function numberOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'errno' in error && typeof error.errno === 'number' && error.errno > 0
    ? error.errno
    : undefined;
}

/** Truncated or wrong values 1264, 1265, 1292, 1366, 1406, 3140, 3819, 4025; null 1048; other keys 1062. */
const OF_ONE_ROW = new Set([1048, 1062, 1118, 1264, 1265, 1292, 1366, 1406, 3140, 3819, 4025]);
const CHANGED = new Set([1054, 1146, 1050, 1060, 1412]);
const DENIED = new Set([1142, 1143]);
const PERMANENT = new Set([1059, 1064, 1071, 1117]);

function failureOf(error: unknown): StoreFailure {
  const errno = numberOf(error);
  const reason = errno === undefined ? errorText(error) : `mysql ${errno}: ${errorText(error)}`;
  if ((error as { code?: unknown })?.code === 'DESTINATION_REFUSED') return { kind: 'never', reason };
  if (errno === undefined) return { kind: 'later', reason };
  if (OF_ONE_ROW.has(errno)) return { kind: 'row', reason };
  if (CHANGED.has(errno)) return { kind: 'schema', reason };
  if (DENIED.has(errno)) return { kind: 'denied', reason };
  return { kind: PERMANENT.has(errno) ? 'never' : 'later', reason };
}

/** Connections with the session's settings. */
const prepared = new WeakSet<object>();
