// @module-tag postgresql
import { POSTGRESQL } from '@firsthand/core/tables/dialects.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDatabase, type TestDatabase } from '../../test/servers/index.ts';
import { openPostgresql } from './postgresql.ts';
import { describeTransport, driverOptions, record } from './testing/conformance.ts';
import { describeTables } from './testing/tables-conformance.ts';

let database: TestDatabase;
let admin: pg.Client;
beforeAll(async () => {
  database = await startDatabase();
  admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await database.stop();
});
const connection = () => ({ url: database.url, ssl: 'disable' });
let tables = 0;

describeTransport('PostgreSQL', () => ({
  open: openPostgresql,
  connection,
  nobody: { url: 'postgres://nobody@127.0.0.1:1/none', ssl: 'disable' },
  async freshTarget() {
    const name = `events "${++tables}"`;
    await admin.query(
      `create table "${name.replaceAll('"', '""')}" (event_id text primary key, event text, total int check (total >= 0), more jsonb)`,
    );
    return name;
  },
  async stored(target) {
    const { rows } = await admin.query<{ event_id: string }>(`select * from "${target.replaceAll('"', '""')}"`);
    return new Map(rows.map((row) => [row.event_id, row]));
  },
  badValues: { event: 'Order', total: -1 },
}));

describeTables('PostgreSQL', () => ({
  open: openPostgresql,
  connection: connection(),
  dialect: POSTGRESQL,
  exactlyOnce: true,
  oneRowPerUser: true,
  async rows(table) {
    const { rows } = await admin.query<Record<string, unknown>>(`select * from "${table}"`);
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value instanceof Date ? value.toISOString() : value])),
    );
  },
}));

test('the table of canonical events is created once, in its schema', async () => {
  await admin.query('create schema analytics');
  const transport = openPostgresql({ ...connection(), create_table: 'true' }, driverOptions());
  const values = {
    type: 'track',
    event: 'Order',
    timestamp: '2026-01-01T00:00:00Z',
    context: { ip: '1.2.3.4' },
    properties: { total: 42, note: 'a\u0000b' },
  };
  for (const event_id of [1, 2])
    expect(await transport.send([record('analytics.events', event_id, values)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
  const { rows } = await admin.query('select event, properties from analytics.events order by event_id');
  expect(rows).toEqual([1, 2].map(() => ({ event: 'Order', properties: { total: 42, note: 'a\ufffdb' } })));
  await transport.close();
});

test('a Unix socket of the machine itself is refused', async () => {
  const transport = openPostgresql({ url: 'postgres://u@/db?host=/var/run/postgresql', ssl: 'disable' }, driverOptions(false));
  const verdict = await transport.send([record('t', 1)], { timeout_ms: 5_000 });
  expect(verdict).toMatchObject({ kind: 'refused', reason: expect.stringContaining('is not a host and a port') });
  await transport.close();
});

test('the URL does not turn TLS off, and names no files', async () => {
  // The server of this test has no TLS: with it, nothing is stored.
  const url = `${database.url}${database.url.includes('?') ? '&' : '?'}sslmode=disable&sslrootcert=/nowhere`;
  const send = async (ssl: string) => {
    const transport = openPostgresql({ url, ssl, create_table: 'true' }, driverOptions());
    const verdict = await transport.send([record('by_url', 1)], { timeout_ms: 20_000 });
    await transport.close();
    return verdict;
  };
  expect(await send('verify')).toEqual({ kind: 'unavailable', reason: 'The server does not support SSL connections' });
  expect(await send('disable')).toEqual({ kind: 'delivered' });
});

test('a row that is larger than a page is refused alone', async () => {
  const wide = Object.fromEntries(Array.from({ length: 1_200 }, (_, i) => [`n${i}`, i + 0.5]));
  const transport = openPostgresql({ ...connection(), create_table: 'true', max_columns: '1600' }, driverOptions());
  const bad = record('wide', 1, wide);
  expect(await transport.send([bad, record('wide', 2)], { timeout_ms: 20_000 })).toMatchObject({ kind: 'unavailable', isolate: true });
  expect(await transport.send([bad], { timeout_ms: 20_000 })).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('postgresql 54000: row is too big'),
  });
  await transport.close();
});

test('an unknown table is refused where tables are not created', async () => {
  const transport = openPostgresql(connection(), driverOptions());
  const verdict = await transport.send([record('nowhere', 1)], { timeout_ms: 20_000 });
  expect(verdict).toEqual({ kind: 'refused', reason: 'there is no table nowhere' });
  await transport.close();
});
