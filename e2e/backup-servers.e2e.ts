/** The backup of PostgreSQL and NATS as docs/guides/operations/backup.md has it, restored into other servers. */
import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connectNats } from '@firsthand/server/stores/event-log/jetstream.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startNats, startPostgres } from '../packages/server/test/servers/index.ts';
import { findProgram, postgresFolders } from '../packages/server/test/servers/process.ts';
import { type Client, pipelineTo, send, signIn, until } from './harness/client.ts';
import { startReceiver } from './harness/receiver.ts';
import { onServers, type Service, startService } from './harness/service.ts';

const MAIN = join(import.meta.dirname, '../packages/cli/src/firsthand.js');
const SECRET_KEY = 'the-same-key-in-both-places-0001';
/** Created again by the processes. */
const NOT_IN_BACKUP = /^(firsthand_journal_\d+|firsthand_ids|firsthand-canary|KV_firsthand-(leases|owners))$/;
const folder = mkdtempSync(join(tmpdir(), 'firsthand-backup-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (program: string, args: string[], env: Record<string, string> = {}) =>
  promisify(execFile)(program, args, { env: { PATH: process.env.PATH, ...env } });
const postgresTool = (name: string, args: string[]) => run(findProgram(name, postgresFolders()) ?? name, args);
const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);

async function sendAll(service: Service, key: string, ids: string[]): Promise<void> {
  for (const messageId of ids)
    expect((await send(service, key, '/v1/t', { type: 'track', event: 'Order', messageId, anonymousId: 'visitor' })).status).toBe(200);
}
async function delivered(client: Client, ids: string[]): Promise<void> {
  for (const id of ids)
    await until(`the delivery of ${id} in its trace`, async () => {
      const { status, body } = await client.call('GET', `/events/${id}`);
      return status === 200 && body.event !== null && body.deliveries[0]?.status === 'delivered';
    });
}

test.runIf(onServers)('PostgreSQL and NATS restored elsewhere have every event from before the backup', { tags: ['long'] }, async () => {
  const receiver = await startReceiver();
  const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  onTestFinished(async () => void (await Promise.all([postgres.stop(), nats.stop(), receiver.close()])));
  const service = await startService({ SECRET_KEY, RETRY_BASE: '3s' }, { servers: true, natsUrl: nats.url, postgresUrl: postgres.url });
  onTestFinished(() => service.stop());
  const [streams, dump] = [join(folder, 'streams'), join(folder, 'firsthand.dump')];
  const firsthand = (env: Record<string, string>, ...args: string[]) => run(process.execPath, [MAIN, ...args], { SECRET_KEY, ...env });

  // Delivered, without an answer, waiting for its next attempt: each state is in another place.
  const client = await signIn(service);
  const { pipeline, key } = await pipelineTo(client, receiver.url, {
    config: { authentication: 'bearer', auth_token: 'sealed-under-the-key' },
  });
  await send(service, key, '/v1/i', { type: 'identify', messageId: 'identify', anonymousId: 'visitor', userId: 'u1' });
  const before = idsOf('before', 50);
  await sendAll(service, key, before);
  await delivered(client, ['identify', ...before]);
  receiver.answer(({ body }) => (body.includes('"retried"') ? { status: 503 } : body.includes('"hanging"') ? 'hang' : {}));
  await sendAll(service, key, ['retried', 'hanging']);
  for (const id of ['retried', 'hanging'])
    await until(`the attempt for ${id}`, () => receiver.events().some((event) => event.event_id === id));

  const between = idsOf('between', 50);
  let isBackedUp = false;
  const whileBackingUp = (async () => {
    const ids: string[] = [];
    for (; !isBackedUp; ids.push(`during-${ids.length}`)) await sendAll(service, key, [`during-${ids.length}`]);
    return ids;
  })();
  try {
    await firsthand({ NATS_URL: nats.url }, 'backup', 'streams', '--to', streams);
    await sendAll(service, key, between);
    await delivered(client, between);
    await postgresTool('pg_dump', ['--format=custom', '--exclude-table-data=recorder', `--file=${dump}`, service.databaseUrl!]);
  } finally {
    isBackedUp = true;
  }
  await firsthand({}, 'backup', 'verify', '--from', streams);
  const held = JSON.parse(readFileSync(join(streams, 'streams.json'), 'utf8')) as { config: { name: string } }[];
  expect(held.map(({ config }) => config.name).sort()).toEqual((await streamNames(nats.url)).filter((name) => !NOT_IN_BACKUP.test(name)));

  const after = idsOf('after', 5);
  await sendAll(service, key, after);
  await delivered(client, [...(await whileBackingUp), ...after]);

  // Nothing of the first place is left.
  await Promise.all([service.stop(), postgres.stop(), nats.stop()]);
  const [postgresElsewhere, natsElsewhere] = await Promise.all([startPostgres(), startNats()]);
  onTestFinished(async () => void (await Promise.all([postgresElsewhere.stop(), natsElsewhere.stop()])));
  const elsewhere = { DATABASE_URL: postgresElsewhere.url, NATS_URL: natsElsewhere.url, SECRET_KEY };
  await postgresTool('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${elsewhere.DATABASE_URL}`, dump]);
  await firsthand(elsewhere, 'restore', 'streams', '--from', streams);
  const deliveredBefore = receiver.events().map((event) => event.event_id);
  receiver.requests.length = 0;
  receiver.answer(() => ({}));
  const restored = await startService(elsewhere, { servers: false });
  onTestFinished(() => restored.stop());

  const again = await signIn(restored);
  expect(await again.get(`/pipelines/${pipeline.id}`)).toMatchObject({ name: pipeline.name, pipeline_key: key });
  await delivered(again, ['identify', ...before, 'retried', 'hanging']);
  for (const id of between)
    expect(await again.get(`/events/${id}`), id).toMatchObject({ event: null, deliveries: [{ status: 'delivered' }] });
  const fresh = idsOf('new', 100);
  await sendAll(restored, key, [...after, ...fresh]);
  await delivered(again, [...after, ...fresh]);
  expect(receiver.requests[0]?.headers).toMatchObject({ authorization: 'Bearer sealed-under-the-key' });
  const times = Map.groupBy(
    receiver.events().map((event) => event.event_id),
    (id) => id,
  );
  for (const id of ['identify', ...before]) {
    expect(deliveredBefore.filter((each) => each === id)).toHaveLength(1);
    expect(times.get(id)?.length ?? 0, id).toBeLessThanOrEqual(1);
  }
  for (const id of ['retried', 'hanging', ...fresh]) expect(times.get(id), id).toHaveLength(1);
  expect(receiver.events().find((event) => event.event_id === 'new-0')).toMatchObject({ user_id: 'u1' });

  await expect(firsthand(elsewhere, 'restore', 'streams', '--from', streams)).rejects.toThrow(/has streams of Firsthand already/);
  appendFileSync(join(streams, 'firsthand_layout.snapshot'), 'x');
  await expect(firsthand({}, 'backup', 'verify', '--from', streams)).rejects.toThrow(/firsthand_layout.snapshot: has \d+ bytes/);
});

async function streamNames(url: string): Promise<string[]> {
  const connection = await connectNats(url);
  try {
    return (await connection.request('$JS.API.STREAM.NAMES')).json<{ streams: string[] }>().streams.sort();
  } finally {
    await connection.close();
  }
}
