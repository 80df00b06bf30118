/**
 * Rows in Redshift. A batch becomes one file per table in S3. One transaction copies it to a temporary table and replaces the rows by
 * their keys, so a repeat stores nothing twice. All statements go through the Data API: no connection to the cluster's network is needed.
 */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { isObject } from '@firsthand/core/json.ts';
import type { Column } from '@firsthand/core/tables/columns.ts';
import { quoted, REDSHIFT, readColumn } from '@firsthand/core/tables/dialects.ts';
import type { VendorReply } from '@firsthand/core/vendor/compiled.ts';
import { percentEncode, signAws } from '@firsthand/core/vendor/sigv4.ts';
import type { HttpDeps, OpenTransport } from './port.ts';
import { bucketAddress } from './s3-address.ts';
import { BadReply, fetchReply, httpFailure, parsed, rowJson, succeeded, untilNextPoll } from './tables/http.ts';
import type { Load, StoreFailure, TableRef, TableStore } from './tables/store.ts';
import { openTables, readTableSettings } from './tables/writer.ts';

/** Of BatchExecuteStatement. A table needs up to five. */
const STATEMENTS_AT_ONCE = 40;
const TABLES_AT_ONCE = STATEMENTS_AT_ONCE / 5;
const gzipped = promisify(gzip);

/**
 * `region`, `access_key_id`, `secret_access_key`, `workgroup` or `cluster` and `db_user`, `database`, `schema`, `bucket`, `prefix`,
 * `iam_role`, `endpoint` and the settings of `readTableSettings`.
 */
export const openRedshift: OpenTransport = (connection, { http }) =>
  openTables(redshiftStore(connection, http), readTableSettings(connection));

function redshiftStore(connection: Readonly<Record<string, string>>, http: HttpDeps): TableStore {
  const {
    region = '',
    access_key_id = '',
    secret_access_key = '',
    workgroup,
    cluster,
    db_user,
    bucket = '',
    prefix = '',
    iam_role = '',
  } = connection;
  const database = connection.database ?? '';
  const schema = connection.schema || 'public';
  const credentials = {
    access_key_id,
    secret_access_key,
    region,
    ...(connection.session_token ? { session_token: connection.session_token } : {}),
  };
  const dataUrl = connection.endpoint ? `${connection.endpoint}/redshift-data/` : `https://redshift-data.${region}.amazonaws.com/`;
  const bucketUrl = bucketAddress(bucket, region, connection.endpoint);
  const where = { Database: database, ...(workgroup ? { WorkgroupName: workgroup } : { ClusterIdentifier: cluster, DbUser: db_user }) };

  async function call<T>(action: string, body: unknown, deadline: number): Promise<T> {
    const headers = { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': `RedshiftData.${action}` };
    const bytes = Buffer.from(JSON.stringify(body));
    const signed = signAws(
      { method: 'POST', url: dataUrl, headers, body: bytes },
      { ...credentials, service: 'redshift-data' },
      http.clock.now(),
    );
    const reply = await fetchReply(http, { method: 'POST', url: dataUrl, headers: { ...headers, ...signed }, body: bytes }, deadline);
    if (!succeeded(reply)) throw badReply(reply);
    return parsed(reply) as T;
  }
  async function upload(key: string, body: Buffer, deadline: number): Promise<void> {
    const url = `${bucketUrl}/${key.split('/').map(percentEncode).join('/')}`;
    const headers = { 'Content-Type': 'application/gzip' };
    const signed = signAws({ method: 'PUT', url, headers, body }, { ...credentials, service: 's3' }, http.clock.now());
    const reply = await fetchReply(http, { method: 'PUT', url, headers: { ...headers, ...signed }, body }, deadline);
    if (!succeeded(reply))
      throw new BadReply(reply, /<Code>([^<]*)/.exec(reply.body)?.[1] ?? '', /<Message>([^<]*)/.exec(reply.body)?.[1] ?? reply.body);
  }
  /** The token makes a repeated call the same statement for eight hours. */
  async function run(statements: string[], token: string, deadline: number): Promise<void> {
    const [only = ''] = statements;
    const ClientToken = hash('sha256', token).slice(0, 64);
    const { Id } = await (statements.length === 1
      ? call<{ Id: string }>('ExecuteStatement', { ...where, Sql: only, ClientToken }, deadline)
      : call<{ Id: string }>('BatchExecuteStatement', { ...where, Sqls: statements, ClientToken }, deadline));
    for (let polls = 0; ; polls++) {
      const { Status, Error: message } = await call<{ Status: string; Error?: string }>('DescribeStatement', { Id }, deadline);
      if (Status === 'FINISHED') return;
      if (Status === 'FAILED' || Status === 'ABORTED') throw new StatementFailed(message ?? Status);
      await untilNextPoll(polls, deadline);
    }
  }
  const nameOf = ({ name }: TableRef) => `${quoted(schema, REDSHIFT)}.${quoted(name, REDSHIFT)}`;

  async function stage(load: Load, index: number, deadline: number): Promise<{ key: string; sql: string[] }> {
    const rows = load.rows.map((row) => rowJson(load, row, true)).join('\n');
    const key = `${prefix}${load.table.name}/${hash('sha256', rows)}.json.gz`;
    await upload(key, await gzipped(rows), deadline);
    return { key, sql: replaceRows(load, nameOf(load.table), `firsthand_${index}`, copyFrom(`s3://${bucket}/${key}`, iam_role, region)) };
  }

  return {
    dialect: REDSHIFT,
    async describe({ name }, deadline) {
      const columns: Column[] = [];
      let NextToken: string | undefined;
      do {
        const page = { ...where, Schema: schema, Table: name, MaxResults: 1_000, ...(NextToken ? { NextToken } : {}) };
        const reply = await call<{ ColumnList?: { name: string; typeName: string; length?: number }[]; NextToken?: string }>(
          'DescribeTable',
          page,
          deadline,
        );
        for (const column of reply.ColumnList ?? [])
          columns.push(readColumn(column.name, typeOf(column.typeName, column.length), REDSHIFT));
        NextToken = reply.NextToken;
      } while (NextToken);
      return columns.length === 0 ? undefined : columns;
    },
    async countTables(_schema, deadline) {
      let count = 0;
      let NextToken: string | undefined;
      do {
        const page = { ...where, SchemaPattern: schema, MaxResults: 1_000, ...(NextToken ? { NextToken } : {}) };
        const reply = await call<{ Tables?: unknown[]; NextToken?: string }>('ListTables', page, deadline);
        count += reply.Tables?.length ?? 0;
        NextToken = reply.NextToken;
      } while (NextToken);
      return count;
    },
    async create(table, { key, time }, columns, deadline) {
      // VARCHAR(65535) as a distribution key would cost memory in every join by it.
      const list = columns.map(({ name, sql }) => `${quoted(name, REDSHIFT)} ${name === key ? 'varchar(1024)' : sql}`);
      const sorted = time ? ` sortkey (${quoted(time, REDSHIFT)})` : '';
      const sql = `create table if not exists ${nameOf(table)} (${list.join(', ')}) distkey (${quoted(key, REDSHIFT)})${sorted}`;
      await run([`create schema if not exists ${quoted(schema, REDSHIFT)}`, sql], `${sql} ${http.clock.now()}`, deadline);
    },
    async addColumns(table, columns, deadline) {
      // Redshift adds one column per statement.
      const statements = columns.map(({ name, sql }) => `alter table ${nameOf(table)} add column ${quoted(name, REDSHIFT)} ${sql}`);
      const alter = (some: string[]) => run(some, `${some.join()} ${http.clock.now()}`, deadline);
      const exists = (error: unknown) => error instanceof StatementFailed && /already exists/.test(error.message);
      for (let from = 0; from < statements.length; from += STATEMENTS_AT_ONCE) {
        const some = statements.slice(from, from + STATEMENTS_AT_ONCE);
        try {
          await alter(some);
        } catch (error) {
          // Another process added one of them: the others are added one by one.
          if (!exists(error)) throw error;
          for (const statement of some) {
            try {
              await alter([statement]);
            } catch (again) {
              if (!exists(again)) throw again;
            }
          }
        }
      }
    },
    async write(loads, deadline) {
      for (let from = 0; from < loads.length; from += TABLES_AT_ONCE) {
        const staged = await Promise.all(loads.slice(from, from + TABLES_AT_ONCE).map((load, index) => stage(load, index, deadline)));
        await run(
          staged.flatMap(({ sql }) => sql),
          `${staged.map(({ key }) => key).join(' ')} ${http.clock.now()}`,
          deadline,
        );
      }
      return [];
    },
    failure: (error) => failureOf(error, http.clock.now()),
    close: () => Promise.resolve(),
  };
}

class StatementFailed extends Error {}

function copyFrom(url: string, iamRole: string, region: string): string {
  const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
  // A keyword, unlike the ARN of a role.
  const role = iamRole === 'default' ? iamRole : text(iamRole);
  return `from ${text(url)} iam_role ${role} region ${text(region)} format json 'auto' gzip timeformat 'auto' truncatecolumns`;
}

/** Statements of one transaction. */
function replaceRows({ kind, columns }: Load, table: string, stage: string, from: string): string[] {
  const names = columns.map(({ name }) => quoted(name, REDSHIFT));
  const [key = '', ...others] = names;
  const list = names.join(', ');
  const make = [`create temp table ${stage} (like ${table})`, `copy ${stage} (${list}) ${from}`];
  if (!kind.latest)
    return [
      ...make,
      `delete from ${table} using ${stage} where ${table}.${key} = ${stage}.${key}`,
      `insert into ${table} (${list}) select ${list} from ${stage}`,
      `drop table ${stage}`,
    ];
  const set = others.map((name) => `${name} = coalesce(${stage}.${name}, ${table}.${name})`).join(', ');
  return [
    ...make,
    `update ${table} set ${set} from ${stage} where ${table}.${key} = ${stage}.${key} and (${table}.received_at is null or ${stage}.received_at >= ${table}.received_at)`,
    `insert into ${table} (${list}) select ${list} from ${stage} where not exists (select 1 from ${table} where ${table}.${key} = ${stage}.${key})`,
    `drop table ${stage}`,
  ];
}

function typeOf(name: string, length: number | undefined): string {
  return /char/i.test(name) && length ? `varchar(${length})` : name.toLowerCase();
}

function badReply(reply: VendorReply): BadReply {
  const body = parsed(reply);
  const { __type, message, Message } = isObject(body) ? body : {};
  const text = [message, Message].find((one) => typeof one === 'string');
  return new BadReply(reply, String(__type ?? '').replace(/^.*#/, ''), typeof text === 'string' ? text : reply.body);
}

/** Codes decide, not the status: AWS throttles with 400. */
const TEMPORARY =
  /Throttl|TooManyRequests|ActiveStatementsExceeded|BatchExecuteStatementException|InternalServer|SlowDown|RequestTimeout|AccessDenied|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch|InvalidAccessKeyId|ExpiredToken|NoSuchBucket|ResourceNotFound/;

function failureOf(error: unknown, now: number): StoreFailure {
  if (error instanceof StatementFailed) {
    const reason = `redshift: ${error.message}`.slice(0, 300);
    if (/permission denied/i.test(error.message)) return { kind: 'denied', reason };
    if (/(?:relation|column) .* does not exist/i.test(error.message)) return { kind: 'schema', reason };
    return { kind: /stl_load_errors|sys_load_error_detail/i.test(error.message) ? 'row' : 'later', reason };
  }
  const failure = httpFailure('redshift', error, now);
  return error instanceof BadReply && TEMPORARY.test(error.code) ? { ...failure, kind: 'later' } : failure;
}
