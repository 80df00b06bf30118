import { randomUUID } from 'node:crypto';
import { BIGQUERY } from '@firsthand/core/tables/dialects.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBigquery } from './bigquery.ts';
import { driverOptions } from './testing/conformance.ts';
import { type Answer, type Asked, FakeWarehouse, Faults, type Row, serve } from './testing/fake-warehouse.ts';
import { testKills } from './testing/kills.ts';
import { describeTables, trackRecord } from './testing/tables-conformance.ts';
import { rsaKeyPair, verifiedClaims } from './testing/verify-jwt.ts';

const keys = rsaKeyPair();
const other = rsaKeyPair();
const warehouse = new FakeWarehouse();
const faults = new Faults();
const jobs = new Map<string, { state: string; polls: number; errorResult?: { reason: string; message: string } }>();
const etags = new Map<string, number>();
const tokens = new Set<string>();
/** Per table: how many jobs more end with an error that passes. */
const busy = new Map<string, number>();
let url: string;
let close: () => Promise<void>;
const limits = { timeout_ms: 20_000 };

const error = (status: number, reason: string, message: string): Answer => ({
  status,
  body: { error: { code: status, message, errors: [{ reason, message }] } },
});
type Field = { name: string; type: string };

/** BigQuery's REST API as far as the driver uses it. */
function handle(asked: Asked): Answer {
  const { method, path, body, headers } = asked;
  if (path === '/token') {
    const claims = verifiedClaims(new URLSearchParams(body.toString()).get('assertion') ?? '', keys.publicPem);
    if (
      claims?.iss !== 'writer@acme.iam.gserviceaccount.com' ||
      claims.aud !== `${url}/token` ||
      !String(claims.scope).includes('/auth/bigquery')
    )
      return { status: 400, body: { error: 'invalid_grant' } };
    const access_token = randomUUID();
    tokens.add(`Bearer ${access_token}`);
    return { status: 200, body: { access_token, expires_in: 3600 } };
  }
  if (!tokens.has(headers.authorization ?? '')) return error(401, 'authError', 'Invalid Credentials');
  const tables = /^\/bigquery\/v2\/projects\/acme\/datasets\/events\/tables(?:\/([^/]+)(\/insertAll)?)?$/.exec(path);
  if (tables) return tableCall(method, decodeURIComponent(tables[1] ?? ''), tables[2] !== undefined, asked);
  const upload = path === '/upload/bigquery/v2/projects/acme/jobs';
  const job = /^\/bigquery\/v2\/projects\/acme\/jobs\/(.+)$/.exec(path)?.[1];
  if (upload) return startJob(asked);
  const known = job === undefined ? undefined : jobs.get(job);
  if (!known) return error(404, 'notFound', 'Not found: job');
  if (known.polls++ > 0) known.state = 'DONE';
  return { status: 200, body: { status: known } };
}

function tableCall(method: string, name: string, insert: boolean, { body, headers }: Asked): Answer {
  if (name === '') {
    if (method === 'GET') return { status: 200, body: { totalItems: warehouse.tables.size } };
    const { tableReference, schema } = JSON.parse(body.toString()) as { tableReference: { tableId: string }; schema: { fields: Field[] } };
    if (warehouse.tables.has(tableReference.tableId)) return error(409, 'duplicate', 'Already Exists');
    warehouse.create(
      tableReference.tableId,
      schema.fields.map(({ name: one, type }) => [one, type]),
    );
    return { status: 200 };
  }
  const table = warehouse.tables.get(name);
  if (!table) return error(404, 'notFound', `Not found: Table ${name}`);
  if (insert) return insertAll(name, body);
  const etag = String(etags.get(name) ?? 0);
  if (method === 'GET')
    return { status: 200, body: { etag, schema: { fields: [...table.columns].map(([one, type]) => ({ name: one, type })) } } };
  if (headers['if-match'] !== etag) return error(412, 'conditionNotMet', 'Precondition check failed.');
  const { schema } = JSON.parse(body.toString()) as { schema: { fields: Field[] } };
  const names = schema.fields.map((field) => field.name.toLowerCase());
  if (new Set(names).size < names.length) return error(400, 'invalid', 'Duplicate field');
  if (schema.fields.some((field) => !/^[A-Za-z_][A-Za-z0-9_]{0,299}$/.test(field.name))) return error(400, 'invalid', 'Invalid field name');
  etags.set(name, Number(etag) + 1);
  table.columns = new Map(schema.fields.map((field) => [field.name, field.type]));
  return { status: 200 };
}

function insertAll(name: string, body: Buffer): Answer {
  const { rows } = JSON.parse(body.toString()) as { rows: { insertId: string; json: Row }[] };
  const insertErrors = rows.flatMap(({ json }, index) => {
    const message = warehouse.fault(name, json) ?? (Object.values(json).includes('refuse me') ? 'refused' : undefined);
    if (message === undefined) warehouse.insert(name, json);
    return message === undefined ? [] : [{ index, errors: [{ reason: 'invalid', location: '', message }] }];
  });
  return { status: 200, body: insertErrors.length > 0 ? { insertErrors } : {} };
}

function startJob({ body, headers }: Asked): Answer {
  const boundary = /boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1] ?? '';
  const [, meta = '', data = ''] = body
    .toString()
    .split(`--${boundary}`)
    .map((part) => part.split('\r\n\r\n').slice(1).join('\r\n\r\n').trimEnd());
  const { jobReference, configuration } = JSON.parse(meta) as {
    jobReference: { jobId: string };
    configuration: { load: { destinationTable: { tableId: string } } };
  };
  const { jobId } = jobReference;
  if (jobs.has(jobId)) return error(409, 'duplicate', 'Already Exists: Job');
  const name = configuration.load.destinationTable.tableId;
  const rows = data.split('\n').map((line) => JSON.parse(line) as Row);
  const left = busy.get(name) ?? 0;
  if (left > 0) {
    busy.set(name, left - 1);
    const errorResult = { reason: 'rateLimitExceeded', message: 'too many table update operations for this table' };
    const failed = { state: 'DONE', polls: 0, errorResult };
    jobs.set(jobId, failed);
    return { status: 200, body: { status: failed } };
  }
  const message = rows.map((row) => warehouse.fault(name, row)).find((one) => one !== undefined);
  if (message === undefined) for (const row of rows) warehouse.insert(name, row);
  const job = { state: 'RUNNING', polls: 0, ...(message === undefined ? {} : { errorResult: { reason: 'invalid', message } }) };
  jobs.set(jobId, job);
  return { status: 200, body: { status: job } };
}

beforeAll(async () => {
  ({ url, close } = await serve((asked) => faults.apply(asked, () => handle(asked))));
});
afterAll(() => close());
const connection = () => ({
  project_id: 'acme',
  dataset: 'events',
  client_email: 'writer@acme.iam.gserviceaccount.com',
  private_key: keys.privatePem,
  endpoint: url,
  layout: 'segment',
  create_table: 'true',
});
const opened = (over: Record<string, string> = {}) => openBigquery({ ...connection(), ...over }, driverOptions());
const rows = async (table: string) => warehouse.rows(table);

describeTables('BigQuery, streaming', () => ({
  open: openBigquery,
  connection: connection(),
  dialect: BIGQUERY,
  exactlyOnce: false,
  oneRowPerUser: false,
  wildRuns: 6,
  rows,
}));
testKills('BigQuery, load jobs', async () => {
  const eventIds = async () => (await rows('tracks')).map((row) => String(row.id));
  return {
    vendor: 'bigquery',
    config: {
      project_id: 'acme-events',
      dataset: 'events',
      client_email: connection().client_email,
      private_key: keys.privatePem,
      method: 'load',
    },
    connection: { ...connection(), method: 'load' },
    eventIds,
    exactlyOnce: true,
  };
});
describeTables('BigQuery, load jobs', () => ({
  open: openBigquery,
  connection: { ...connection(), method: 'load' },
  dialect: BIGQUERY,
  exactlyOnce: true,
  oneRowPerUser: false,
  wildRuns: 6,
  rows,
}));

describe('BigQuery', () => {
  let event: string;
  let table: string;
  let n = 0;
  beforeEach(() => {
    event = `Fault ${++n}`;
    table = `fault_${n}`;
  });
  const stored = () => warehouse.rows(table).map(({ id }) => id);

  test('one bad row does not stop the others', async () => {
    const verdict = await opened().send([trackRecord('good', event, {}), trackRecord('bad', event, { note: 'refuse me' })], limits);
    expect(verdict).toMatchObject({
      kind: 'partial',
      items: [{ kind: 'delivered' }, { kind: 'refused', reason: expect.stringContaining('bigquery invalid') }],
    });
    expect(stored()).toEqual(['good']);
  });
  test('rows that BigQuery stopped are sent again, the bad one is not', async () => {
    await opened().send([trackRecord('zero', event, {})], limits);
    const errors = [
      { index: 0, errors: [{ reason: 'stopped', message: '' }] },
      { index: 1, errors: [{ reason: 'invalid', message: 'bad value' }] },
    ];
    faults.add(/fault_\d+\/insertAll/, { status: 200, body: { insertErrors: errors } });
    expect(await opened().send([trackRecord('a', event, {}), trackRecord('b', event, {})], limits)).toMatchObject({
      items: [{ kind: 'unavailable' }, { kind: 'refused' }],
    });
  });
  test('a column that the streaming servers do not know yet is no reason to give up', async () => {
    faults.add(/insertAll/, { status: 200 });
    faults.add(/insertAll/, {
      status: 200,
      body: { insertErrors: [{ index: 0, errors: [{ reason: 'invalid', message: 'no such field: total' }] }] },
    });
    expect(await opened().send([trackRecord('a', event, { total: 1 })], limits)).toMatchObject({ items: [{ kind: 'unavailable' }] });
  });
  test.each([
    [403, 'rateLimitExceeded', { kind: 'unavailable' }],
    [403, 'accessDenied', { kind: 'unavailable' }],
    [503, 'backendError', { kind: 'unavailable' }],
    [400, 'invalid', { kind: 'refused' }],
  ])('%s %s is %j', async (status, reason, verdict) => {
    await opened().send([trackRecord('zero', event, {})], limits);
    faults.add(/insertAll/, error(status, reason, 'no'));
    expect(await opened().send([trackRecord('a', event, {})], limits)).toMatchObject(verdict);
  });
  test('a rejected token is replaced, and a wrong key is unavailable until it is corrected', async () => {
    const transport = opened();
    expect(await transport.send([trackRecord('a', event, {})], limits)).toEqual({ kind: 'delivered' });
    tokens.clear();
    expect(await transport.send([trackRecord('b', event, {})], limits)).toEqual({ kind: 'delivered' });
    expect(await opened({ private_key: other.privatePem }).send([trackRecord('c', event, {})], limits)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('invalid_grant'),
    });
    expect(await opened().send([trackRecord('c', event, {})], limits)).toEqual({ kind: 'delivered' });
  });
  test('a load job that failed for the moment is run again under the next id', async () => {
    const transport = opened({ method: 'load' });
    const batch = [trackRecord('a', event, {})];
    busy.set(table, 5);
    const before = jobs.size;
    for (let attempt = 0; attempt < 5; attempt++) {
      const reason = expect.stringContaining('rateLimitExceeded');
      expect(await transport.send(batch, limits)).toMatchObject({ kind: 'unavailable', reason });
    }
    // One for tracks, and one per attempt for the table of the event: failed jobs count against its daily limit.
    expect(jobs.size - before).toBe(1 + 5);
    expect(await transport.send(batch, limits)).toEqual({ kind: 'delivered' });
    expect(await transport.send(batch, limits)).toEqual({ kind: 'delivered' });
    expect(stored()).toEqual(['a']);
  });
  test('a load job whose answer was lost is not run again', async () => {
    const transport = opened({ method: 'load' });
    faults.add(/upload/, 'cut', { after: true });
    faults.add(/upload/, 'cut', { after: true });
    const batch = [trackRecord('a', event, {}), trackRecord('b', event, {})];
    for (let tries = 0; tries < 3; tries++) if ((await transport.send(batch, limits)).kind === 'delivered') break;
    expect(stored()).toEqual(['a', 'b']);
  });
});
