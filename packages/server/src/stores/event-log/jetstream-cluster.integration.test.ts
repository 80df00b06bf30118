/**
 * The conformance suite once more, on three replicated servers.
 *
 * @module-tag nats-server
 * @module-tag long
 */
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startNatsCluster } from '../../../test/servers/index.ts';
import { describeEventLog } from './conformance/index.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';
import type { EventLog } from './port.ts';

let cluster: Awaited<ReturnType<typeof startNatsCluster>>;
let connection: NatsConnection;
let log: EventLog;
const open = async (dedupWindowMs = 3_600_000, to = connection) => openJetStreamLog({ connection: to, dedupWindowMs, replicas: 3 });
beforeAll(async () => {
  cluster = await startNatsCluster(3);
  connection = await connectNats(cluster.url);
  log = await open();
});
afterAll(async () => {
  await log.close();
  await connection.close();
  await cluster.stop();
});

describeEventLog('JetStream with three replicas', () => ({
  log: () => log,
  async reopen() {
    await log.close();
    log = await open();
  },
  async withWindow(dedupWindowMs) {
    const own = await connectNats(cluster.url);
    const short = await open(dedupWindowMs, own);
    onTestFinished(async () => {
      await short.close();
      await own.close();
    });
    return short;
  },
}));
