import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { JetStreamApi } from '@firsthand/server/stores/event-log/jetstream/api.ts';
import { connectNats, openJetStreamLog } from '@firsthand/server/stores/event-log/jetstream.ts';
import type { EventLog } from '@firsthand/server/stores/event-log/port.ts';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startNats, startNatsCluster } from '../../../server/test/servers/index.ts';

const MAIN = join(import.meta.dirname, '../firsthand.js');
const folder = mkdtempSync(join(tmpdir(), 'firsthand-streams-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const firsthand = (natsUrl: string, replicas: number, ...args: string[]) =>
  promisify(execFile)(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH, NATS_URL: natsUrl, NATS_REPLICAS: String(replicas) },
  });

async function withLog<T>(url: string, replicas: number, work: (log: EventLog) => Promise<T>): Promise<T> {
  const connection = await connectNats(url);
  const log = await openJetStreamLog({ connection, dedupWindowMs: 60_000, replicas });
  try {
    return await work(log);
  } finally {
    await log.close();
    await connection.close();
  }
}
const append = (log: EventLog, ids: string[]) =>
  log.append([{ topic: 'events.p1', records: ids.map((id) => ({ id, data: Buffer.from(id) })) }]);
/** Takes and settles what the group has not had, until `last` has come. */
async function take(log: EventLog, last: string): Promise<string[]> {
  const taken: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const consumer = log.consume('events.p1', 'g', { start: 'beginning', maxInFlight: 10, maxBatch: 10, ordered: true }, async (batch) => {
    await log.ackAll(batch);
    taken.push(...batch.map(({ record }) => record.id));
    if (taken.includes(last)) resolve();
  });
  await promise;
  await consumer.stop();
  return taken;
}

test('a backup of three servers is restored into one, and the other way round', { tags: ['nats-server', 'long'] }, async () => {
  const [three, one, again] = await Promise.all([startNatsCluster(3), startNats(), startNatsCluster(3)]);
  onTestFinished(async () => void (await Promise.all([three.stop(), one.stop(), again.stop()])));
  await withLog(three.url, 3, async (log) => {
    await append(log, ['a', 'b']);
    expect(await take(log, 'b')).toEqual(['a', 'b']);
    await append(log, ['c']);
  });
  await firsthand(three.url, 3, 'backup', 'streams', '--to', join(folder, 'three'));
  // A cursor that is newer than its topic would take the next records for settled.
  const copied = JSON.parse(readFileSync(join(folder, 'three/streams.json'), 'utf8')) as { config: { name: string } }[];
  const kinds = new Set(copied.map(({ config }) => config.name.replace(/_\d+$/, '')));
  expect([...kinds]).toEqual(['firsthand_cursors', 'firsthand_retries', 'firsthand_events', 'firsthand_layout']);
  await firsthand(one.url, 1, 'restore', 'streams', '--from', join(folder, 'three'));
  await withLog(one.url, 1, async (log) => {
    await append(log, ['a', 'd']);
    expect(await take(log, 'd')).toEqual(['c', 'd']);
    await append(log, ['e']);
  });
  await firsthand(one.url, 1, 'backup', 'streams', '--to', join(folder, 'one'));
  await firsthand(again.url, 3, 'restore', 'streams', '--from', join(folder, 'one'));
  await withLog(again.url, 3, async (log) => {
    await append(log, ['f']);
    expect(await take(log, 'f')).toEqual(['e', 'f']);
  });
  const connection = await connectNats(again.url);
  onTestFinished(() => connection.close());
  const { streams } = await new JetStreamApi(connection, 5_000).call<{ streams: { config: { name: string; num_replicas: number } }[] }>(
    'STREAM.LIST',
  );
  const stored = streams.filter(({ config }) => !config.name.startsWith('firsthand_journal_'));
  expect(stored.length).toBeGreaterThan(3);
  for (const { config } of stored) expect(config, config.name).toMatchObject({ num_replicas: 3 });
});
