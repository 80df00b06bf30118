// @module-tag postgresql
import { hash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { REDSHIFT } from '@firsthand/core/tables/dialects.ts';
import { authorization } from '@firsthand/core/vendor/sigv4.ts';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startDatabase, type TestDatabase } from '../../test/servers/index.ts';
import { openRedshift } from './redshift.ts';
import { driverOptions } from './testing/conformance.ts';
import { type Answer, type Asked, Faults, serve } from './testing/fake-warehouse.ts';
import { testKills } from './testing/kills.ts';
import { describeTables, trackRecord } from './testing/tables-conformance.ts';

/** S3 and the Data API. The statements run on PostgreSQL; only COPY and the words that PostgreSQL does not have are replaced. */
const objects = new Map<string, Buffer>();
const results = new Map<string, { Status: string; Error?: string }>();
const faults = new Faults();
let postgres: TestDatabase;
let admin: pg.Client;
/** Reads beside the transaction of `admin`. */
let reader: pg.Pool;
let url: string;
let close: () => Promise<void>;
const limits = { timeout_ms: 30_000 };

function isSigned({ method, headers, body, path }: Asked, service: string): boolean {
  const given = headers.authorization ?? '';
  const names = (/SignedHeaders=([^,]+)/.exec(given)?.[1] ?? '').split(';').filter((name) => name !== 'host');
  const bodyHash = String(headers['x-amz-content-sha256']);
  const date = String(headers['x-amz-date']);
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const credentials = { access_key_id: 'AKIA', secret_access_key: 'right', region: 'eu-central-1', service };
  const right = authorization({ method, url: `http://${headers.host}${path}`, headers: signed }, bodyHash, credentials, at);
  return given === right && Math.abs(Date.now() - at) < 300_000 && bodyHash === hash('sha256', body);
}
async function handle(asked: Asked): Promise<Answer> {
  const { path, headers, body } = asked;
  const aws = (status: number, type: string, message: string): Answer => ({ status, body: { __type: `com.amazon#${type}`, message } });
  if (path.startsWith('/staging/')) {
    if (!isSigned(asked, 's3')) return { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>' };
    objects.set(`s3:/${decodeURIComponent(path)}`, body);
    return { status: 200 };
  }
  if (!isSigned(asked, 'redshift-data')) return aws(400, 'InvalidSignatureException', 'no');
  const action = String(headers['x-amz-target']).replace('RedshiftData.', '');
  const given = JSON.parse(body.toString()) as { Sql?: string; Sqls?: string[]; Id?: string; Table?: string; WorkgroupName?: string };
  if (action === 'DescribeStatement') return { status: 200, body: results.get(given.Id ?? '') };
  if (given.WorkgroupName !== 'analytics') return aws(400, 'ResourceNotFoundException', 'workgroup');
  if (action === 'DescribeTable') {
    const { rows } = await reader.query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
      [`"public"."${given.Table?.replaceAll('"', '""')}"`],
    );
    const shown = ({ name: short, type }: { name: string; type: string }) => {
      const name = longNames.get(short) ?? short;
      const length = /^character varying\((\d+)\)$/.exec(type)?.[1];
      return length ? { name, typeName: 'varchar', length: Number(length) } : { name, typeName: type === 'jsonb' ? 'super' : type };
    };
    return { status: 200, body: { ColumnList: rows.map(shown) } };
  }
  if (action === 'ListTables') {
    const { rows } = await reader.query("select tablename from pg_tables where schemaname = 'public'");
    return { status: 200, body: { Tables: rows } };
  }
  const Id = `id-${results.size}`;
  results.set(Id, await run(given.Sqls ?? [given.Sql ?? '']));
  return { status: 200, body: { Id } };
}

let running: Promise<unknown> = Promise.resolve();
function run(statements: string[]): Promise<{ Status: string; Error?: string }> {
  const result = running.then(() => transaction(statements));
  running = result;
  return result;
}
async function transaction(statements: string[]): Promise<{ Status: string; Error?: string }> {
  try {
    await admin.query('begin');
    for (const sql of statements) await (sql.startsWith('copy ') ? copy(sql) : admin.query(translated(sql)));
    await admin.query('commit');
    return { Status: 'FINISHED' };
  } catch (error) {
    await admin.query('rollback');
    return { Status: 'FAILED', Error: `ERROR: ${(error as Error).message}` };
  }
}
/** PostgreSQL cuts names at 63 bytes, Redshift at 127. */
const longNames = new Map<string, string>();
function shortened(sql: string): string {
  return sql.replace(/"((?:[^"]|"")+)"/g, (_, name: string) => `"${shortName(name)}"`);
}
function shortName(name: string): string {
  if (Buffer.byteLength(name) <= 63) return name;
  const short = `~${hash('sha256', name).slice(0, 40)}`;
  longNames.set(short, name);
  return short;
}
function translated(sql: string): string {
  return shortened(sql)
    .replace(/ distkey \([^)]*\)/, '')
    .replace(/ sortkey \([^)]*\)/, '')
    .replace(/ super\b/g, ' jsonb');
}
/** `format json 'auto'`: keys are columns. */
async function copy(sql: string): Promise<void> {
  const [, stage = '', list = '', from = ''] =
    /^copy (\w+) \((.*?)\) from '([^']+)' iam_role (?:'arn:aws:iam::1:role\/copy'|default) region 'eu-central-1' format json 'auto' gzip/.exec(
      sql,
    ) ?? [];
  const file = objects.get(from);
  if (!file) throw new Error(`The specified S3 prefix '${from}' does not exist`);
  const rows = gunzipSync(file)
    .toString()
    .split('\n')
    .map((line) =>
      Object.fromEntries(Object.entries(JSON.parse(line) as Record<string, unknown>).map(([key, value]) => [shortName(key), value])),
    );
  if (JSON.stringify(rows).includes('refuse me'))
    throw new Error("Load into table failed. Check 'sys_load_error_detail' system table for details.");
  const columns = shortened(list);
  const given = JSON.stringify(rows);
  await admin.query(`insert into ${stage} (${columns}) select ${columns} from jsonb_populate_recordset(null::${stage}, $1)`, [given]);
}

beforeAll(async () => {
  postgres = await startDatabase();
  admin = new pg.Client({ connectionString: postgres.url });
  // The server may end while these connections close; without a listener that would be an uncaught error.
  admin.on('error', () => undefined);
  await admin.connect();
  reader = new pg.Pool({ connectionString: postgres.url });
  reader.on('error', () => undefined);
  ({ url, close } = await serve((asked) => faults.apply(asked, () => handle(asked))));
});
afterAll(async () => {
  await close();
  await admin.end();
  await reader.end();
  await postgres.stop();
});
const connection = () => ({
  region: 'eu-central-1',
  access_key_id: 'AKIA',
  secret_access_key: 'right',
  workgroup: 'analytics',
  database: 'dev',
  schema: 'public',
  bucket: 'staging',
  prefix: 'firsthand/',
  iam_role: 'arn:aws:iam::1:role/copy',
  endpoint: url,
  layout: 'segment',
  create_table: 'true',
});
const opened = (over: Record<string, string> = {}) => openRedshift({ ...connection(), ...over }, driverOptions());
const rows = async (table: string) => {
  const { rows: found } = await reader.query<Record<string, unknown>>(`select * from "${table}"`);
  return found.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([key, value]) => [longNames.get(key) ?? key, value instanceof Date ? value.toISOString() : value]),
    ),
  );
};

describeTables('Redshift', () => ({
  open: openRedshift,
  connection: connection(),
  dialect: REDSHIFT,
  exactlyOnce: true,
  oneRowPerUser: true,
  wildRuns: 6,
  rows,
}));

testKills('Redshift', async () => {
  const eventIds = async () => (await rows('tracks').catch(() => [])).map((row) => String(row.id));
  return {
    vendor: 'redshift',
    config: {
      region: 'eu-central-1',
      access_key_id: 'AKIA',
      secret_access_key: 'right',
      workgroup: 'analytics',
      database: 'dev',
      bucket: 'staging',
      iam_role: 'arn:aws:iam::123456789012:role/copy',
    },
    connection: { ...connection() },
    eventIds,
    exactlyOnce: true,
  };
});
describe('Redshift', () => {
  let event: string;
  let table: string;
  let n = 0;
  beforeEach(async () => {
    event = `Fault ${++n}`;
    table = `fault_${n}`;
    expect(await opened().send([trackRecord('zero', event, { note: '' })], limits)).toEqual({ kind: 'delivered' });
  });
  test('an answer that was lost: the next attempt stores nothing twice', async () => {
    faults.add(/redshift-data/, 'cut', { after: true });
    const transport = opened();
    let verdict = await transport.send([trackRecord('a', event, {})], limits);
    for (let tries = 0; verdict.kind !== 'delivered' && tries < 3; tries++)
      verdict = await transport.send([trackRecord('a', event, {})], limits);
    expect((await rows(table)).filter(({ id }) => id === 'a')).toHaveLength(1);
  });
  test('one bad row is found by sending each alone', async () => {
    const bad = trackRecord('bad', event, { note: 'refuse me' });
    expect(await opened().send([trackRecord('a', event, {}), bad], limits)).toMatchObject({ kind: 'unavailable', isolate: true });
    expect(await opened().send([bad], limits)).toMatchObject({ kind: 'refused' });
  });
  test('the default role is a keyword, not a text', async () => {
    expect(await opened({ iam_role: 'default' }).send([trackRecord('a', event, {})], limits)).toEqual({ kind: 'delivered' });
  });
  test('throttling comes as 400, and a wrong key is unavailable until it is corrected', async () => {
    faults.add(/redshift-data/, { status: 400, body: { __type: 'ThrottlingException', message: 'Rate exceeded' } });
    expect(await opened().send([trackRecord('a', event, {})], limits)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('ThrottlingException'),
    });
    expect(await opened({ secret_access_key: 'wrong' }).send([trackRecord('a', event, {})], limits)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('InvalidSignatureException'),
    });
    expect(await opened().send([trackRecord('a', event, {})], limits)).toEqual({ kind: 'delivered' });
  });
});
