import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { describeEventLog } from './conformance.ts';
import { connectNats, openJetStreamLog } from './jetstream.ts';
import type { EventLog } from './port.ts';

const WINDOW_MS = 3_000;
let server: TestServer;
let connection: NatsConnection;
let log: EventLog;
const open = async () => {
  log = await openJetStreamLog({ connection, dedupWindowMs: WINDOW_MS, replicas: 1 });
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
  dedupWindowMs: WINDOW_MS,
}));
