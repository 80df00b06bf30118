import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { systemClock } from '@firsthand/server/runtime/clock.ts';
import { openConfigStore } from '@firsthand/server/stores/config/open.ts';
import { connectNats } from '@firsthand/server/stores/event-log/jetstream.ts';
import { openObserve } from '@firsthand/server/stores/observe/open.ts';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, startDatabase, startNats } from '../../../server/test/servers/index.ts';

const MAIN = join(import.meta.dirname, '../firsthand.js');

function check(env: Record<string, string>): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'upgrade', '--check'], { env: { PATH: process.env.PATH, ...env } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

test('upgrade --check names the indexes to create by hand and the streams of an earlier release', async () => {
  const [database, nats] = await Promise.all([startDatabase(), startNats()]);
  onTestFinished(async () => void (await Promise.all([database.stop(), nats.stop()])));
  const settings = { databaseUrl: database.url, dataDir: '/nonexistent' };
  await (await openConfigStore({ ...settings, clock: systemClock })).close();
  const observe = await openObserve({ ...settings, onConnectionError: () => {} });
  const env = { DATABASE_URL: database.url, NATS_URL: nats.url, SECRET_KEY: 'a key of sixteen characters' };
  const small = await check(env);
  expect([small.code, small.err]).toEqual([0, '']);
  expect(JSON.parse(small.out)).toMatchObject({
    pending: [],
    rolling: true,
    create_indexes: [],
    earlier_streams: [],
    unsettled_records: 0,
  });

  await sql`drop index trace_events_by_id`.execute(observe.db);
  await sql`update pg_class set reltuples = 1000000 where oid = 'trace_events'::regclass`.execute(observe.db);
  const connection = await connectNats(nats.url);
  const api = (operation: string, body: object) => connection.request(`$JS.API.${operation}`, JSON.stringify(body));
  const stream = 'firsthand--ingest';
  await api(`STREAM.CREATE.${stream}`, { name: stream, subjects: ['ingest.>'], storage: 'file' });
  const found = {
    rolling: false,
    create_indexes: ['create index concurrently if not exists trace_events_by_id on trace_events (org_id, event_id);'],
    earlier_streams: [stream],
  };
  const settled = await check(env);
  expect([settled.code, settled.err]).toEqual([0, '']);
  expect(JSON.parse(settled.out)).toMatchObject({ ...found, unsettled_records: 0 });

  const config = { durable_name: 'process', ack_policy: 'explicit', deliver_policy: 'all' };
  await api(`CONSUMER.DURABLE.CREATE.${stream}.process`, { stream_name: stream, config });
  await connection.request('ingest.0', 'an event');
  const waiting = await check(env);
  expect(JSON.parse(waiting.out)).toMatchObject({ ...found, unsettled_records: 1 });
  expect([waiting.code, waiting.err]).toEqual([1, expect.stringContaining('NATS holds 1 records')]);

  const away = await check({ ...env, NATS_URL: `nats://127.0.0.1:${await freePort()}` });
  expect([away.code, away.out, away.err]).toEqual([1, '', expect.stringContaining('NATS cannot be reached')]);
  await connection.close();
  await observe.close();
});
