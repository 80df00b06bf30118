/**
 * Rows in ClickHouse over HTTP. A batch is one insert per table with a deduplication token made from its content: a batch that comes again
 * is stored once within the table's deduplication window, and ReplacingMergeTree removes older repeats when parts are merged.
 */
import { hash } from 'node:crypto';
import type { Column } from '@firsthand/core/tables/columns.ts';
import { CLICKHOUSE, quoted, readColumn } from '@firsthand/core/tables/dialects.ts';
import type { TableKind } from '@firsthand/core/tables/rows.ts';
import type { VendorReply } from '@firsthand/core/vendor/compiled.ts';
import type { HttpDeps, OpenTransport } from './port.ts';
import { BadReply, fetchReply, httpFailure, rowJson } from './tables/http.ts';
import type { StoreFailure, TableRef, TableStore } from './tables/store.ts';
import { openTables, readTableSettings } from './tables/writer.ts';

/** `url`, `database`, `username`, `password` and the settings of `readTableSettings`. */
export const openClickhouse: OpenTransport = (connection, { http }) =>
  openTables(clickhouseStore(connection, http), readTableSettings(connection));

/** An answer of 200 comes before the end of the query otherwise, and an error after it would be lost. */
const EVERY_QUERY = { wait_end_of_query: '1', http_write_exception_in_output_format: '0' };
const INSERT = {
  insert_deduplicate: '1',
  // With asynchronous inserts the answer would come before the rows are stored.
  async_insert: '0',
  date_time_input_format: 'best_effort',
  // A column that is missing would lose data silently.
  input_format_skip_unknown_fields: '0',
};
const WINDOW = 1_000;

function clickhouseStore({ url = '', database, username, password }: Readonly<Record<string, string>>, http: HttpDeps): TableStore {
  const headers = {
    ...(username ? { 'X-ClickHouse-User': username } : {}),
    ...(password ? { 'X-ClickHouse-Key': password } : {}),
    'Content-Type': 'text/plain; charset=utf-8',
  };
  async function query(sql: string, deadline: number, settings: Record<string, string> = {}, rows?: string): Promise<string> {
    const target = new URL(url);
    const parameters = { ...(database ? { database } : {}), ...EVERY_QUERY, ...settings, ...(rows === undefined ? {} : { query: sql }) };
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    const reply = await fetchReply(http, { method: 'POST', url: target.href, headers, body: rows ?? sql }, deadline);
    const code = reply.headers['x-clickhouse-exception-code'];
    if (reply.status !== 200 || code !== undefined) throw new BadReply(reply, code ?? codeOf(reply), reply.body.trim());
    return reply.body;
  }
  const select = async (sql: string, deadline: number) =>
    (JSON.parse(await query(`${sql} FORMAT JSONCompact`, deadline)) as { data: string[][] }).data;

  return {
    dialect: CLICKHOUSE,
    async describe({ schema, name }, deadline) {
      const where = `database = ${schema === undefined ? 'currentDatabase()' : literal(schema)} AND table = ${literal(name)}`;
      const rows = await select(`SELECT name, type FROM system.columns WHERE ${where} AND default_kind IN ('', 'DEFAULT')`, deadline);
      return rows.length === 0 ? undefined : rows.map(([column = '', type = '']) => readColumn(column, type, CLICKHOUSE));
    },
    async countTables(schema, deadline) {
      const where = `database = ${schema === undefined ? 'currentDatabase()' : literal(schema)}`;
      return Number((await select(`SELECT count() FROM system.tables WHERE ${where}`, deadline))[0]?.[0] ?? 0);
    },
    async create(table, kind, columns, deadline) {
      await query(createTable(table, kind, columns), deadline);
    },
    async addColumns(table, columns, deadline) {
      const list = columns.map(({ name, sql }) => `ADD COLUMN IF NOT EXISTS ${quoted(name, CLICKHOUSE)} ${sql}`);
      await query(`ALTER TABLE ${nameOf(table)} ${list.join(', ')}`, deadline);
    },
    async write(loads, deadline) {
      for (const load of loads) {
        const names = load.columns.map(({ name }) => quoted(name, CLICKHOUSE)).join(', ');
        const rows = load.rows.map((row) => rowJson(load, row, false)).join('\n');
        const token = hash('sha256', `${nameOf(load.table)}\n${names}\n${rows}`);
        await query(
          `INSERT INTO ${nameOf(load.table)} (${names}) FORMAT JSONEachRow`,
          deadline,
          { ...INSERT, insert_deduplication_token: token },
          rows,
        );
      }
      return [];
    },
    failure: (error) => failureOf(error, http.clock.now()),
    close: () => Promise.resolve(),
  };
}

/** Key columns are not nullable. A user's rows are kept, because replacing would lose traits that the newest event does not name. */
function createTable(table: TableRef, { key, time, latest }: TableKind, columns: readonly Column[]): string {
  const order = latest ? [key, time] : [time, key];
  const keys = order.filter((name) => name !== undefined);
  const list = columns.map(({ name, sql }) => {
    const type = keys.some((one) => one === name) ? sql.replace(/^Nullable\((.*)\)$/, '$1') : sql;
    return `${quoted(name, CLICKHOUSE)} ${type}`;
  });
  const sorted = keys.map((name) => quoted(name, CLICKHOUSE)).join(', ');
  return `CREATE TABLE IF NOT EXISTS ${nameOf(table)} (${list.join(', ')}) ENGINE = ReplacingMergeTree ORDER BY (${sorted})
    SETTINGS non_replicated_deduplication_window = ${WINDOW}`;
}
function nameOf({ schema, name }: TableRef): string {
  return `${schema === undefined ? '' : `${quoted(schema, CLICKHOUSE)}.`}${quoted(name, CLICKHOUSE)}`;
}
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
function codeOf({ body }: VendorReply): string {
  return /\bCode: (\d+)/.exec(body)?.[1] ?? '';
}

/** Codes of ClickHouse's ErrorCodes.cpp. Values that do not parse; unknown table or column; access denied. */
const OF_ONE_ROW = new Set(['6', '26', '27', '38', '41', '53', '72', '117', '131', '321', '469']);
const CHANGED = new Set(['10', '15', '16', '44', '47', '57', '60']);
const PERMANENT = new Set(['36', '46', '48', '50', '62', '115', '349']);

function failureOf(error: unknown, now: number): StoreFailure {
  const failure = httpFailure('clickhouse', error, now);
  if (!(error instanceof BadReply) || error.code === '') return failure;
  const reason = `clickhouse ${error.code}: ${error.message}`.slice(0, 300);
  if (OF_ONE_ROW.has(error.code)) return { kind: 'row', reason };
  if (CHANGED.has(error.code)) return { kind: 'schema', reason };
  // 497: the user lacks a right. On a change of the table the writer does without.
  if (error.code === '497') return { kind: 'denied', reason };
  return { ...failure, kind: PERMANENT.has(error.code) ? 'never' : 'later', reason };
}
