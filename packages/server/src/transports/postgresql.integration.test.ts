/**
 * PostgreSQL that fails in the middle: restarts, statements that hang, wrong credentials, missing rights.
 *
 * @module-tag postgresql
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startPostgres, type TestServer } from '../../test/servers/index.ts';
import { openPostgresql } from './postgresql.ts';
import { driverOptions } from './testing/conformance.ts';
import { testKills } from './testing/kills.ts';
import { trackRecord } from './testing/tables-conformance.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startPostgres({ durable: true });
});
afterAll(() => server.stop());

function opened(over: Record<string, string> = {}) {
  const transport = openPostgresql({ url: server.url, ssl: 'disable', layout: 'segment', create_table: 'true', ...over }, driverOptions());
  onTestFinished(() => transport.close());
  return transport;
}
async function query<T extends pg.QueryResultRow>(sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query<T>(sql);
  await client.end();
  return rows;
}
const batchOf = (event: string) => Array.from({ length: 500 }, (_, i) => trackRecord(`${event}-${i}`, event, { n: i }));
const limits = { timeout_ms: 20_000 };

test('a server that is killed and restarted: the next attempt stores every row once', async () => {
  const transport = opened();
  expect(await transport.send(batchOf('restarted').slice(0, 10), limits)).toEqual({ kind: 'delivered' });
  const sending = transport.send(batchOf('restarted'), limits);
  await server.kill();
  const verdict = await sending;
  expect(['delivered', 'unavailable']).toContain(verdict.kind);
  expect(await transport.send(batchOf('restarted'), { timeout_ms: 5_000 })).toMatchObject({ kind: 'unavailable' });
  await server.restart();
  expect(await transport.send(batchOf('restarted'), limits)).toEqual({ kind: 'delivered' });
  expect(await query('select count(*)::int as n, count(distinct id)::int as ids from restarted')).toEqual([{ n: 500, ids: 500 }]);
});

test('a statement that hangs in the middle ends at the deadline, and the repeat stores nothing twice', async () => {
  const transport = opened();
  expect(await transport.send(batchOf('frozen').slice(0, 1), limits)).toEqual({ kind: 'delivered' });
  const holder = new pg.Client({ connectionString: server.url });
  await holder.connect();
  await holder.query('begin; lock table frozen in access exclusive mode');
  expect(await transport.send(batchOf('frozen'), { timeout_ms: 500 })).toEqual({ kind: 'unavailable', reason: 'timeout' });
  await holder.end();
  expect(await transport.send(batchOf('frozen'), limits)).toEqual({ kind: 'delivered' });
  expect(await query('select count(*)::int as n from frozen')).toEqual([{ n: 500 }]);
});

test('connections that the server ends between two statements do not end the process', async () => {
  const transport = opened({ url: server.url.replace('firsthand@', 'ended@') });
  await query('create role ended login superuser');
  let sending = true;
  const ending = (async () => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    while (sending) await client.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ended'");
    await client.end();
  })();
  // Several tables: a transaction of several statements.
  const records = Array.from({ length: 40 }, (_, i) => trackRecord(`ended-${i}`, `Ended ${i % 4}`, { n: i }));
  for (let round = 0; round < 30; round++) expect(['delivered', 'unavailable']).toContain((await transport.send(records, limits)).kind);
  sending = false;
  await ending;
  expect(await transport.send(records, limits)).toEqual({ kind: 'delivered' });
});

test('wrong credentials are unavailable, and the corrected ones deliver', async () => {
  const url = server.url.replace('firsthand@', 'rotated:secret@');
  expect(await opened({ url }).send(batchOf('rotated'), limits)).toMatchObject({
    kind: 'unavailable',
    reason: expect.stringMatching(/^postgresql 28/),
  });
  await query(
    "create role rotated login password 'secret'; grant all on schema public to rotated; grant all on all tables in schema public to rotated",
  );
  expect(await opened({ url, schema: 'public' }).send(batchOf('rotated'), limits)).toEqual({ kind: 'delivered' });
});

test('a role that may not change the table: new fields go to _overflow, or the event is refused by name', async () => {
  await query('create role reader login');
  await query('create table fixed (event_id text primary key, event text)');
  await query('grant select, insert, update on fixed to reader');
  const url = server.url.replace('firsthand@', 'reader@');
  const record = { ...trackRecord('f1', 'Order', {}), target: 'fixed', values: { event: 'Order', total: 42 } };
  const transport = opened({ url, layout: 'payload' });
  expect(await transport.send([record], limits)).toEqual({
    kind: 'refused',
    reason: 'the table fixed has no column for total and may not be changed',
  });
  await query('alter table fixed add column _overflow jsonb');
  expect(await opened({ url, layout: 'payload' }).send([record], limits)).toEqual({ kind: 'delivered' });
  expect(await query('select event, _overflow from fixed')).toEqual([{ event: 'Order', _overflow: { total: 42 } }]);
});

testKills(
  'PostgreSQL',
  async () => ({
    vendor: 'postgresql',
    config: { url: server.url, tls: 'disable', table: 'killed' },
    count: async () => {
      const [found] = await query<{ n: number }>("select count(*)::int as n from pg_class where relname = 'killed'");
      return found?.n === 0 ? 0 : ((await query<{ n: number }>('select count(*)::int as n from killed'))[0]?.n ?? 0);
    },
    eventIds: async () => (await query<{ event_id: string }>('select event_id from killed')).map(({ event_id }) => event_id),
    exactlyOnce: true,
  }),
  { tags: [] },
);
