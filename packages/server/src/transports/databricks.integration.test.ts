import { randomUUID } from 'node:crypto';
import { DATABRICKS } from '@firsthand/core/tables/dialects.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openDatabricks } from './databricks.ts';
import { driverOptions } from './testing/conformance.ts';
import { type Answer, type Asked, FakeWarehouse, Faults, type Row, serve } from './testing/fake-warehouse.ts';
import { testKills } from './testing/kills.ts';
import { describeTables, trackRecord } from './testing/tables-conformance.ts';

const warehouse = new FakeWarehouse();
const faults = new Faults();
const statements = new Map<string, Answer & object>();
const tokens = new Set<string>();
let url: string;
let close: () => Promise<void>;
const limits = { timeout_ms: 20_000 };

const failed = (message: string): Answer & object => ({
  status: 200,
  body: { status: { state: 'FAILED', error: { error_code: 'BAD_REQUEST', message } } },
});
const done = (data_array?: unknown[][]): Answer & object => ({
  status: 200,
  body: { status: { state: 'SUCCEEDED' }, ...(data_array ? { result: { data_array } } : {}) },
});

function handle(asked: Asked): Answer {
  const { path, headers, body } = asked;
  if (path === '/oidc/v1/token') {
    const fields = new URLSearchParams(body.toString());
    const right =
      headers.authorization === `Basic ${Buffer.from('client:secret').toString('base64')}` && fields.get('scope') === 'all-apis';
    if (!right) return { status: 401, body: { error: 'invalid_client' } };
    const access_token = randomUUID();
    tokens.add(`Bearer ${access_token}`);
    return { status: 200, body: { access_token, expires_in: 3600 } };
  }
  if (!tokens.has(headers.authorization ?? '')) return { status: 401, body: { error_code: 'UNAUTHENTICATED', message: 'Invalid token' } };
  const described = /^\/api\/2.1\/unity-catalog\/tables\/(.+)$/.exec(path)?.[1];
  if (described !== undefined) {
    const table = warehouse.tables.get(decodeURIComponent(described).replace(/^main\.events\./, ''));
    if (!table) return { status: 404, body: { error_code: 'TABLE_DOES_NOT_EXIST', message: 'no' } };
    return {
      status: 200,
      body: { columns: [...table.columns].map(([name, type_text]) => ({ name, type_text: type_text.toLowerCase() })) },
    };
  }
  const polled = /^\/api\/2.0\/sql\/statements\/(.+)$/.exec(path)?.[1];
  if (polled !== undefined) return statements.get(polled) ?? { status: 404, body: { error_code: 'NOT_FOUND' } };
  const { statement, parameters, warehouse_id } = JSON.parse(body.toString()) as {
    statement: string;
    warehouse_id: string;
    parameters?: { value: string }[];
  };
  if (warehouse_id !== 'wh1') return { status: 400, body: { error_code: 'INVALID_PARAMETER_VALUE', message: 'warehouse' } };
  const id = `s${statements.size}`;
  statements.set(id, run(statement, parameters?.[0]?.value ?? ''));
  // Every second statement is slow.
  return statements.size % 2 === 0
    ? { status: 200, body: { statement_id: id, status: { state: 'RUNNING' } } }
    : (statements.get(id) ?? failed(''));
}

const NAME = /`((?:[^`]|``)+)`/g;
const definitions = (text: string): [string, string][] =>
  [...text.matchAll(/`((?:[^`]|``)+)` (\w+)/g)].map(([, name = '', type = '']) => [name.replaceAll('``', '`'), type]);

/** The four statements of the driver. */
function run(sql: string, parameter: string): Answer & object {
  const names = [...sql.matchAll(NAME)].map(([, name = '']) => name);
  const table = names[2] ?? '';
  if (sql.startsWith('SELECT count(*)')) return done([[String(warehouse.tables.size)]]);
  if (sql.startsWith('CREATE TABLE')) {
    warehouse.create(table, definitions(sql.slice(sql.indexOf('('))));
    return done();
  }
  const known = warehouse.tables.get(table);
  if (!known) return failed(`[TABLE_OR_VIEW_NOT_FOUND] ${table}`);
  if (sql.startsWith('ALTER TABLE')) {
    const added = definitions(sql.slice(sql.indexOf('(')));
    const twice = added.find(([name]) => [...known.columns.keys()].some((one) => one.toLowerCase() === name.toLowerCase()));
    if (twice) return failed(`[FIELD_ALREADY_EXISTS] ${twice[0]}`);
    if (added.some(([name]) => /[ ,;{}()\n\t=]/.test(name))) return failed('[DELTA_INVALID_CHARACTERS_IN_COLUMN_NAME]');
    for (const [name, type] of added) known.columns.set(name, type);
    return done();
  }
  const latest = sql.includes('coalesce(');
  const keyName = /ON old\.`(\w+)`/.exec(sql)?.[1] ?? '';
  for (const row of JSON.parse(parameter) as Row[]) {
    const fault = warehouse.fault(table, row);
    if (fault) return failed(fault);
    const index = known.rows.findIndex((one) => one[keyName] === row[keyName]);
    const old = known.rows[index];
    if (!old) known.rows.push(row);
    else if (!latest) known.rows[index] = { ...old, ...row };
    else if (String(row.received_at) >= String(old.received_at)) known.rows[index] = { ...old, ...row };
  }
  return done();
}

beforeAll(async () => {
  ({ url, close } = await serve((asked) => faults.apply(asked, () => handle(asked))));
});
afterAll(() => close());
const connection = () => ({
  host: url,
  warehouse_id: 'wh1',
  catalog: 'main',
  schema: 'events',
  client_id: 'client',
  client_secret: 'secret',
  layout: 'segment',
  create_table: 'true',
});
const opened = (over: Record<string, string> = {}) => openDatabricks({ ...connection(), ...over }, driverOptions());

describeTables('Databricks', () => ({
  open: openDatabricks,
  connection: connection(),
  dialect: DATABRICKS,
  exactlyOnce: true,
  oneRowPerUser: true,
  wildRuns: 6,
  rows: async (table) => warehouse.rows(table),
}));

testKills('Databricks', async () => {
  const eventIds = async () => (await warehouse.rows('tracks')).map((row) => String(row.id));
  return {
    vendor: 'databricks',
    config: {
      host: 'https://dbc.example.com',
      warehouse_id: 'wh1',
      catalog: 'main',
      schema: 'events',
      authentication: 'oauth',
      client_id: 'client',
      client_secret: 'secret',
    },
    connection: { ...connection() },
    eventIds,
    exactlyOnce: true,
  };
});
describe('Databricks', () => {
  let event: string;
  let table: string;
  let n = 0;
  beforeEach(async () => {
    event = `Fault ${++n}`;
    table = `fault_${n}`;
    expect(await opened().send([trackRecord('zero', event, {})], limits)).toEqual({ kind: 'delivered' });
  });
  test('an answer that was lost: the next attempt stores nothing twice', async () => {
    faults.add(/sql\/statements$/, 'cut', { after: true });
    expect(await opened().send([trackRecord('a', event, {})], limits)).toMatchObject({ kind: 'unavailable' });
    expect(await opened().send([trackRecord('a', event, {})], limits)).toEqual({ kind: 'delivered' });
    expect(warehouse.rows(table).filter(({ id }) => id === 'a')).toHaveLength(1);
  });
  test.each([
    [failed('[DELTA_CONCURRENT_APPEND] another writer'), { kind: 'unavailable' }],
    [
      { status: 429, headers: { 'retry-after': '3' }, body: { error_code: 'REQUEST_LIMIT_EXCEEDED', message: 'slow down' } },
      { kind: 'unavailable', retry_after_ms: 3_000 },
    ],
    [{ status: 403, body: { error_code: 'PERMISSION_DENIED', message: 'no' } }, { kind: 'unavailable' }],
    [failed('[PARSE_SYNTAX_ERROR] x'), { kind: 'refused' }],
  ] as [Answer, object][])('%j is %j', async (answer, verdict) => {
    faults.add(/sql\/statements$/, answer);
    expect(await opened().send([trackRecord('a', event, {})], limits)).toMatchObject(verdict);
  });
  test('a table that somebody dropped is made again', async () => {
    const transport = opened();
    await transport.send([trackRecord('a', event, {})], limits);
    warehouse.tables.delete(table);
    expect(await transport.send([trackRecord('b', event, {})], limits)).toEqual({ kind: 'delivered' });
    expect(warehouse.rows(table)).toHaveLength(1);
  });
  test('a wrong secret is unavailable until it is corrected', async () => {
    expect(await opened({ client_secret: 'wrong' }).send([trackRecord('a', event, {})], limits)).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('invalid_client'),
    });
    expect(await opened().send([trackRecord('a', event, {})], limits)).toEqual({ kind: 'delivered' });
  });
});
