/**
 * What an installation is created with, and what happens to the streams of an earlier release.
 *
 * @module-tag nats-server
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { startNats } from '../../../test/servers/index.ts';
import type { PartitionEpoch } from '../../partition.ts';
import { until } from './conformance/kit.ts';
import { connectNats, type JetStreamLogOptions, openJetStreamLog } from './jetstream.ts';

async function broker(): Promise<NatsConnection> {
  const server = await startNats();
  const connection = await connectNats(server.url);
  onTestFinished(async () => {
    await connection.close();
    await server.stop();
  });
  return connection;
}
async function open(connection: NatsConnection, over: Partial<JetStreamLogOptions> = {}) {
  const warnings: string[] = [];
  let epochs: readonly PartitionEpoch[] = [];
  const log = await openJetStreamLog({
    connection,
    dedupWindowMs: 60_000,
    replicas: 1,
    onWarning: (message) => warnings.push(message),
    onPartitions: (next) => (epochs = next),
    ...over,
  });
  onTestFinished(() => log.close());
  return { log, warnings, counts: () => epochs.map(({ count }) => count) };
}

test('the number of streams is fixed at the start, and the number of partitions only grows', async () => {
  const connection = await broker();
  const first = await open(connection, { streams: 2, partitions: 8 });
  expect([first.counts(), first.warnings]).toEqual([[8], []]);
  const same = await open(connection, { streams: 5, partitions: 4 });
  expect(same.counts()).toEqual([8]);
  expect(same.warnings).toEqual([
    'PARTITIONS: the number of partitions cannot be lowered, 8 are in use',
    'NATS_STREAMS: 5 is ignored, this installation was created with 2',
  ]);
  const raised = await open(connection, { streams: 2, partitions: 32 });
  expect(raised.counts()).toEqual([8, 32]);
  // A process that runs already learns of it.
  await until(() => first.counts().length === 2);
});

test('a start is refused while records of an earlier release wait, and named streams remain afterwards', async () => {
  const connection = await broker();
  const api = async (operation: string, body: object) =>
    JSON.parse((await connection.request(`$JS.API.${operation}`, JSON.stringify(body))).string()) as { error?: unknown };
  const stream = 'firsthand--ingest';
  await api(`STREAM.CREATE.${stream}`, { name: stream, subjects: ['ingest.>'], storage: 'file' });
  const config = { durable_name: 'process', ack_policy: 'explicit', deliver_policy: 'all' };
  await api(`CONSUMER.DURABLE.CREATE.${stream}.process`, { stream_name: stream, config });
  await connection.request('ingest.0', 'an event');
  await expect(open(connection)).rejects.toThrow('NATS holds 1 records that an earlier release has not processed or delivered');
  // The earlier release processes it.
  const settled = new Promise<void>((resolve) => {
    connection.subscribe('pulled', {
      max: 1,
      callback: (_, msg) => void connection.request(msg.reply ?? '', '+ACK').then(() => resolve()),
    });
  });
  connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.process`, '{"batch":1}', { reply: 'pulled' });
  await settled;
  const { warnings } = await open(connection);
  expect(warnings).toEqual([`streams of an earlier release are no longer used and can be deleted: ${stream}`]);
});
