/**
 * Three replicated servers, of which two go away.
 *
 * @module-tag nats-server
 */
import { expect, onTestFinished, test } from 'vitest';
import { startNatsCluster } from '../../../test/servers/index.ts';
import { collect, until } from './conformance/kit.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';
import { LogUnavailable } from './port.ts';

test('without a quorum the log is not available although a server answers, and it recovers by itself', async () => {
  const cluster = await startNatsCluster(3);
  const connection = await connectNats(cluster.url);
  const log = await openJetStreamLog({ connection, dedupWindowMs: 60_000, replicas: 3 });
  onTestFinished(async () => {
    await log.close();
    await connection.close();
    await cluster.stop();
  });
  const append = (id: string) => log.append([{ topic: 'ingest.0', records: [{ id, data: Buffer.from('x') }] }]);
  // The servers need a moment to elect a leader.
  await until(async () =>
    append('first').then(
      () => true,
      () => false,
    ),
  );
  const [, second, third] = cluster.nodes;
  await Promise.all([second?.kill(), third?.kill()]);
  // Nothing is appended: the canary alone finds out.
  await until(() => !log.available);
  await expect(append('refused')).rejects.toThrow(LogUnavailable);
  await expect(log.lag('ingest.0', 'process')).rejects.toThrow(LogUnavailable);
  await expect(log.topics('ingest.')).rejects.toThrow(LogUnavailable);
  await expect(log.groups('ingest.0')).rejects.toThrow(LogUnavailable);
  const consumer = log.consume('events.new', 'group', { start: 'beginning', maxInFlight: 1, maxBatch: 1 }, async () => {});
  await until(() => consumer.startError instanceof LogUnavailable);
  await Promise.all([second?.restart(), third?.restart()]);
  await until(() => log.available);
  await until(async () =>
    append('after').then(
      () => true,
      () => false,
    ),
  );
  const stored = async () => (await collect(log.read('ingest.0', { limit: 10 })).catch(() => [])).map(({ id }) => id);
  await until(async () => (await stored()).includes('after'));
  expect(await stored()).toContain('first');
  await consumer.started;
  expect(consumer.startError).toBeUndefined();
});
