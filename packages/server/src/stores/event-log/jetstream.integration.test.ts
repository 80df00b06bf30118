// @module-tag nats-server
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { describeEventLog } from './conformance/index.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';
import type { EventLog } from './port.ts';

let server: TestServer;
let connection: NatsConnection;
let log: EventLog;
const open = async () => {
  log = await openJetStreamLog({ connection, dedupWindowMs: 3_600_000, replicas: 1 });
};
beforeAll(async () => {
  server = await startNats();
  connection = await connectNats(server.url);
  await open();
});
afterAll(async () => {
  await log.close();
  await connection.close();
  await server.stop();
});

describeEventLog('JetStream', () => ({
  log: () => log,
  async reopen() {
    await log.close();
    await open();
  },
  async withWindow(dedupWindowMs) {
    const own = await startNats();
    const to = await connectNats(own.url);
    const short = await openJetStreamLog({ connection: to, dedupWindowMs, replicas: 1 });
    onTestFinished(async () => {
      await short.close();
      await to.close();
      await own.stop();
    });
    return short;
  },
}));
