/**
 * Rows in Databricks through SQL statements. A batch is one MERGE per table by the key of the row, so a repeat stores nothing twice. The
 * rows travel as one JSON parameter: no value is ever part of the statement's text.
 */
import { isObject } from '@firsthand/core/json.ts';
import type { Column } from '@firsthand/core/tables/columns.ts';
import { DATABRICKS, quoted, readColumn } from '@firsthand/core/tables/dialects.ts';
import type { TokenPlan, VendorReply, VendorRequest } from '@firsthand/core/vendor/compiled.ts';
import type { HttpDeps, OpenTransport } from './port.ts';
import {
  BadReply,
  fetchReply,
  fetchWithToken,
  forEachLoad,
  httpFailure,
  parsed,
  rowJson,
  succeeded,
  untilNextPoll,
} from './tables/http.ts';
import type { Load, StoreFailure, TableRef, TableStore } from './tables/store.ts';
import { openTables, readTableSettings } from './tables/writer.ts';

const TABLES_AT_ONCE = 4;

/** `host`, `warehouse_id`, `catalog`, `schema`, `token` or `client_id` and `client_secret`, and the settings of `readTableSettings`. */
export const openDatabricks: OpenTransport = (connection, { http }) =>
  openTables(databricksStore(connection, http), readTableSettings(connection));

interface Statement {
  statement_id?: string;
  status?: { state?: string; error?: { error_code?: string; message?: string } };
  result?: { data_array?: (string | null)[][] };
}

function databricksStore(connection: Readonly<Record<string, string>>, http: HttpDeps): TableStore {
  const { warehouse_id, catalog = '', schema = '', token, client_id = '', client_secret = '' } = connection;
  const host = (connection.host ?? '').replace(/(?<!\/)\/+$/, '');
  const plan: TokenPlan = {
    kind: 'oauth2_client_credentials',
    token_url: `${host}/oidc/v1/token`,
    client_id,
    client_secret,
    scope: 'all-apis',
    style: 'basic',
  };
  function call(method: string, path: string, deadline: number, body?: unknown): Promise<VendorReply> {
    const request: VendorRequest = {
      method,
      url: host + path,
      headers: { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    return token ? fetchReply(http, request, deadline) : fetchWithToken(http, plan, request, deadline);
  }
  async function run(statement: string, deadline: number, rows?: string): Promise<Statement> {
    const parameters = rows === undefined ? {} : { parameters: [{ name: 'rows', value: rows, type: 'STRING' }] };
    const asked = { warehouse_id, statement, catalog, schema, wait_timeout: '30s', on_wait_timeout: 'CONTINUE', ...parameters };
    let reply = await call('POST', '/api/2.0/sql/statements', deadline, asked);
    for (let polls = 0; ; polls++) {
      if (!succeeded(reply)) throw badReply(reply);
      const answer = (parsed(reply) ?? {}) as Statement;
      const { state, error } = answer.status ?? {};
      if (state === 'SUCCEEDED') return answer;
      if (state !== 'PENDING' && state !== 'RUNNING')
        throw new BadReply(reply, error?.error_code ?? state ?? '', error?.message ?? 'the statement failed');
      await untilNextPoll(polls, deadline);
      reply = await call('GET', `/api/2.0/sql/statements/${encodeURIComponent(answer.statement_id ?? '')}`, deadline);
    }
  }
  const nameOf = ({ name }: TableRef) => [catalog, schema, name].map((part) => quoted(part, DATABRICKS)).join('.');

  return {
    dialect: DATABRICKS,
    async describe({ name }, deadline) {
      const reply = await call('GET', `/api/2.1/unity-catalog/tables/${encodeURIComponent(`${catalog}.${schema}.${name}`)}`, deadline);
      if (reply.status === 404) return undefined;
      if (!succeeded(reply)) throw badReply(reply);
      const { columns = [] } = (parsed(reply) ?? {}) as { columns?: { name: string; type_text: string }[] };
      return columns.map((column) => readColumn(column.name, column.type_text, DATABRICKS));
    },
    async countTables(_schema, deadline) {
      const text = `SELECT count(*) FROM ${quoted(catalog, DATABRICKS)}.information_schema.tables WHERE table_schema = :rows`;
      return Number((await run(text, deadline, schema)).result?.data_array?.[0]?.[0] ?? 0);
    },
    async create(table, _kind, columns, deadline) {
      await run(`CREATE TABLE IF NOT EXISTS ${nameOf(table)} (${columns.map(definition).join(', ')}) USING DELTA`, deadline);
    },
    async addColumns(table, columns, deadline) {
      try {
        await run(`ALTER TABLE ${nameOf(table)} ADD COLUMNS (${columns.map(definition).join(', ')})`, deadline);
      } catch (error) {
        // Another process added one of them: the caller reads the table again and adds the rest.
        if (!/ALREADY_EXISTS/i.test(error instanceof Error ? error.message : '')) throw error;
      }
    },
    async write(loads, deadline) {
      await forEachLoad(loads, TABLES_AT_ONCE, (load) =>
        run(merge(nameOf(load.table), load), deadline, `[${load.rows.map((row) => rowJson(load, row, false)).join(',')}]`),
      );
      return [];
    },
    failure: (error) => failureOf(error, http.clock.now()),
    close: () => Promise.resolve(),
  };
}

function definition({ name, sql }: Column): string {
  return `${quoted(name, DATABRICKS)} ${sql}`;
}

function merge(table: string, { kind, columns }: Load): string {
  const names = columns.map(({ name }) => quoted(name, DATABRICKS));
  const [key = '', ...others] = names;
  const struct = columns
    .map(({ name, sql }) => `${quoted(name, DATABRICKS)}: ${sql}`)
    .join(', ')
    .replaceAll("'", "\\'");
  const set = others.map((name) => `${name} = ${kind.latest ? `coalesce(new.${name}, old.${name})` : `new.${name}`}`);
  const newer = kind.latest ? ' AND (old.`received_at` IS NULL OR new.`received_at` >= old.`received_at`)' : '';
  return `MERGE INTO ${table} AS old USING (SELECT inline(from_json(:rows, 'ARRAY<STRUCT<${struct}>>'))) AS new ON old.${key} = new.${key}
${set.length === 0 ? '' : `WHEN MATCHED${newer} THEN UPDATE SET ${set.join(', ')}\n`}WHEN NOT MATCHED THEN INSERT (${names.join(', ')}) VALUES (${names.map((name) => `new.${name}`).join(', ')})`;
}

function badReply(reply: VendorReply): BadReply {
  const body = parsed(reply);
  const { error_code, message } = isObject(body) ? body : {};
  return new BadReply(reply, typeof error_code === 'string' ? error_code : '', typeof message === 'string' ? message : reply.body);
}

function failureOf(error: unknown, now: number): StoreFailure {
  const failure = httpFailure('databricks', error, now);
  if (!(error instanceof BadReply)) return failure;
  const text = error.message;
  if (/TABLE_OR_VIEW_NOT_FOUND|UNRESOLVED_COLUMN|DELTA_SCHEMA_CHANGED|DELTA_METADATA_CHANGED/.test(text))
    return { ...failure, kind: 'schema' };
  if (/PERMISSION_DENIED|INSUFFICIENT_PERMISSIONS/.test(`${error.code} ${text}`)) return { ...failure, kind: 'denied' };
  // A failed statement comes with 200: a conflict with another writer, a warehouse that stopped.
  return succeeded(error.reply) ? { ...failure, kind: /PARSE_SYNTAX_ERROR|DATATYPE_MISMATCH/.test(text) ? 'never' : 'later' } : failure;
}
