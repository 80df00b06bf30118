/**
 * Rows in BigQuery. `stream`: insertAll, visible at once, billed by volume; BigQuery removes repeats for about a minute only. `load`: a
 * load job per table and batch, free of charge; its id is made from the content, so a batch that comes again is loaded once.
 */
import { hash } from 'node:crypto';
import { isObject } from '@firsthand/core/json.ts';
import type { Column } from '@firsthand/core/tables/columns.ts';
import { BIGQUERY, readColumn } from '@firsthand/core/tables/dialects.ts';
import type { TokenPlan, VendorReply } from '@firsthand/core/vendor/compiled.ts';
import type { HttpDeps, OpenTransport } from './port.ts';
import { BadReply, fetchWithToken, forEachLoad, httpFailure, parsed, rowJson, succeeded, untilNextPoll } from './tables/http.ts';
import type { Load, RowFailure, StoreFailure, TableRef, TableStore } from './tables/store.ts';
import { openTables, readTableSettings } from './tables/writer.ts';

const SCOPE = 'https://www.googleapis.com/auth/bigquery';
/** Google advises 500 rows per request. */
const ROWS_AT_ONCE = 500;
const TABLES_AT_ONCE = 8;
/** The id of a job that failed cannot be used again, so each attempt at a batch uses the next one. */
const MAX_JOBS = 50;

/** `project_id`, `dataset`, `client_email`, `private_key`, `method`, `location`, `endpoint` and the settings of `readTableSettings`. */
export const openBigquery: OpenTransport = (connection, { http }) =>
  openTables(bigqueryStore(connection, http), readTableSettings(connection));

interface TableField {
  name: string;
  type: string;
  mode?: string;
  maxLength?: string;
}
type Reply = { etag?: string; schema?: { fields?: TableField[] }; totalItems?: number };

function bigqueryStore(connection: Readonly<Record<string, string>>, http: HttpDeps): TableStore {
  const { project_id = '', dataset = '', client_email = '', private_key = '', method, location } = connection;
  const origin = connection.endpoint || 'https://bigquery.googleapis.com';
  const token_url = connection.endpoint ? `${connection.endpoint}/token` : 'https://oauth2.googleapis.com/token';
  const plan: TokenPlan = { kind: 'google_service_account', token_url, client_email, private_key, scope: SCOPE };
  const base = `/bigquery/v2/projects/${encodeURIComponent(project_id)}`;
  const tables = `${base}/datasets/${encodeURIComponent(dataset)}/tables`;

  async function call(
    verb: string,
    path: string,
    deadline: number,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<VendorReply> {
    const json = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    return fetchWithToken(
      http,
      plan,
      { method: verb, url: origin + path, headers: { 'Content-Type': 'application/json', ...headers }, ...json },
      deadline,
    );
  }
  function fine(reply: VendorReply): Reply {
    if (!succeeded(reply)) throw badReply(reply);
    return (parsed(reply) ?? {}) as Reply;
  }
  const at = ({ name }: TableRef) => `${tables}/${encodeURIComponent(name)}`;

  async function stream(load: Load, deadline: number): Promise<RowFailure[]> {
    const failures: RowFailure[] = [];
    for (let from = 0; from < load.rows.length; from += ROWS_AT_ONCE) {
      const some = load.rows.slice(from, from + ROWS_AT_ONCE);
      const rows = some.map((row) => `{"insertId":${JSON.stringify(insertId(row[0]))},"json":${rowJson(load, row, false)}}`);
      const body = `{"skipInvalidRows":true,"ignoreUnknownValues":false,"rows":[${rows.join(',')}]}`;
      const reply = fine(await call('POST', `${at(load.table)}/insertAll`, deadline, body)) as { insertErrors?: InsertError[] };
      for (const error of reply.insertErrors ?? []) {
        const record = load.records[from + error.index];
        if (record !== undefined) failures.push({ record, verdict: rowVerdict(error) });
      }
    }
    return failures;
  }

  async function load(one: Load, deadline: number): Promise<void> {
    const rows = one.rows.map((row) => rowJson(one, row, true)).join('\n');
    const digest = hash('sha256', `${one.table.name}\n${rows}`);
    for (let number = 0; ; number++) {
      const { problem, repeated } = await runJob(one, `firsthand_${digest}_${number}`, rows, deadline);
      if (problem === undefined) return;
      // BigQuery asks for a pause before another job, and failed jobs count too: the next attempt runs it.
      if (!repeated || number + 1 >= MAX_JOBS) throw problem;
    }
  }
  /** `repeated`: the job is of an earlier attempt at this very batch. `problem`: it failed. */
  async function runJob(
    { table, columns }: Load,
    jobId: string,
    rows: string,
    deadline: number,
  ): Promise<{ problem: BadReply | undefined; repeated: boolean }> {
    const jobReference = { projectId: project_id, jobId, ...(location ? { location } : {}) };
    const configuration = {
      load: {
        destinationTable: { projectId: project_id, datasetId: dataset, tableId: table.name },
        sourceFormat: 'NEWLINE_DELIMITED_JSON',
        writeDisposition: 'WRITE_APPEND',
        createDisposition: 'CREATE_NEVER',
        schemaUpdateOptions: ['ALLOW_FIELD_ADDITION'],
        schema: { fields: columns.map(fieldOf) },
      },
    };
    const boundary = `firsthand${jobId.slice(-20)}`;
    const part = (type: string, text: string) => `--${boundary}\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`;
    const body = `${part('application/json; charset=UTF-8', JSON.stringify({ jobReference, configuration }))}${part('application/octet-stream', rows)}--${boundary}--\r\n`;
    let reply = await call('POST', `/upload${base}/jobs?uploadType=multipart`, deadline, body, {
      'Content-Type': `multipart/related; boundary=${boundary}`,
    });
    const path = `${base}/jobs/${jobId}${location ? `?location=${encodeURIComponent(location)}` : ''}`;
    const repeated = reply.status === 409;
    if (repeated) reply = await call('GET', path, deadline);
    for (let polls = 0; ; polls++) {
      const job = fine(reply) as { status?: { state?: string; errorResult?: { reason?: string; message?: string } } };
      if (job.status?.state === 'DONE') {
        const { errorResult } = job.status;
        const problem = errorResult && new BadReply(reply, errorResult.reason ?? '', errorResult.message ?? 'the load job failed');
        return { problem, repeated };
      }
      await untilNextPoll(polls, deadline);
      reply = await call('GET', path, deadline);
    }
  }

  return {
    dialect: BIGQUERY,
    async describe(table, deadline) {
      const reply = await call('GET', `${at(table)}?fields=etag,schema(fields(name,type,mode,maxLength))`, deadline);
      if (reply.status === 404) return undefined;
      return (fine(reply).schema?.fields ?? []).map(({ name, type, mode, maxLength }) =>
        mode === 'REPEATED' || type === 'RECORD'
          ? { name, type: 'other' as const, sql: type }
          : readColumn(name, maxLength === undefined ? type : `${type}(${maxLength})`, BIGQUERY),
      );
    },
    async countTables(_schema, deadline) {
      return fine(await call('GET', `${tables}?maxResults=1&fields=totalItems`, deadline)).totalItems ?? 0;
    },
    async create({ name }, { time }, columns, deadline) {
      const reply = await call('POST', tables, deadline, {
        tableReference: { projectId: project_id, datasetId: dataset, tableId: name },
        schema: { fields: columns.map(fieldOf) },
        ...(time ? { timePartitioning: { type: 'DAY', field: time } } : {}),
      });
      if (reply.status !== 409) fine(reply);
    },
    async addColumns(table, columns, deadline) {
      for (;;) {
        const { etag, schema } = fine(await call('GET', `${at(table)}?fields=etag,schema`, deadline));
        const fields = schema?.fields ?? [];
        const known = new Set(fields.map(({ name }) => name.toLowerCase()));
        const added = columns.filter(({ name }) => !known.has(name.toLowerCase())).map(fieldOf);
        if (added.length === 0) return;
        const reply = await call(
          'PATCH',
          at(table),
          deadline,
          { schema: { fields: [...fields, ...added] } },
          etag ? { 'If-Match': etag } : {},
        );
        // 412: another process changed the table since it was read.
        if (reply.status !== 412) return void fine(reply);
      }
    },
    async write(loads, deadline) {
      if (method !== 'load') return (await forEachLoad(loads, TABLES_AT_ONCE, (one) => stream(one, deadline))).flat();
      await forEachLoad(loads, TABLES_AT_ONCE, (one) => load(one, deadline));
      return [];
    },
    failure: (error) => failureOf(error, http.clock.now()),
    close: () => Promise.resolve(),
  };
}

function fieldOf({ name, sql }: Column): TableField {
  return { name, type: sql.replace(/\(.*/, ''), mode: 'NULLABLE' };
}
/** At most 128 characters. */
function insertId(id: unknown): string {
  const text = String(id);
  return text.length <= 128 ? text : hash('sha256', text);
}

interface InsertError {
  index: number;
  errors?: { reason?: string; location?: string; message?: string }[];
}
/** A column that was added a moment ago is unknown to the streaming servers for some minutes. */
function rowVerdict({ errors = [] }: InsertError): RowFailure['verdict'] {
  const [first] = errors;
  const reason = `bigquery ${first?.reason ?? 'unknown'}: ${first?.message ?? ''} ${first?.location ?? ''}`.trim().slice(0, 300);
  const permanent = errors.some((error) => error.reason === 'invalid' && !/no such field/i.test(error.message ?? ''));
  return { kind: permanent ? 'refused' : 'unavailable', reason };
}

function badReply(reply: VendorReply): BadReply {
  const body = parsed(reply);
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const [first] = Array.isArray(error.errors) ? (error.errors as unknown[]) : [];
  const code = isObject(first) && typeof first.reason === 'string' ? first.reason : '';
  return new BadReply(reply, code, typeof error.message === 'string' ? error.message : reply.body);
}

const TEMPORARY =
  /^(?:rateLimitExceeded|quotaExceeded|backendError|internalError|jobBackendError|jobInternalError|jobRateLimitExceeded|timeout|stopped)$/;

function failureOf(error: unknown, now: number): StoreFailure {
  const failure = httpFailure('bigquery', error, now);
  if (!(error instanceof BadReply)) return failure;
  if (TEMPORARY.test(error.code)) return { ...failure, kind: 'later' };
  // A load job that BigQuery refuses would be refused for each of its rows too; each try counts against the daily limit.
  return succeeded(error.reply) ? { ...failure, kind: 'never' } : failure;
}
