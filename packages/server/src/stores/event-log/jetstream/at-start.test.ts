import type { NatsConnection } from '@nats-io/transport-node';
import { test } from 'vitest';
import { openKvVisitors } from '../../visitors/jetstream-kv.ts';
import { openLayout } from './layout-store.ts';

/** A broker whose streams have a leader from the second question on. */
function electing(): NatsConnection {
  const layout = { streams: 3, partitions: [{ count: 16, from: 0 }] };
  const message = { seq: 1, data: Buffer.from(JSON.stringify(layout)).toString('base64') };
  let asked = 0;
  const answers: Record<string, () => object> = {
    INFO: () => ({ config: { max_age: 0 }, state: {}, cluster: { leader: asked++ === 0 ? '' : 'n1' } }),
    UPDATE: () => ({}),
    MSG: () => ({ message }),
  };
  return {
    info: { version: '2.12.0' },
    isClosed: () => false,
    request: async (subject: string) => ({ string: () => JSON.stringify(answers[subject.split('.')[3] ?? '']?.()) }),
    subscribe: () => ({ unsubscribe: () => undefined }),
  } as unknown as NatsConnection;
}

test.each<[string, (connection: NatsConnection) => Promise<unknown>]>([
  ['layout', (connection) => openLayout(connection, { replicas: 3, streams: 3, partitions: undefined })],
  ['visitors', async (connection) => (await openKvVisitors({ connection, replicas: 3 })).close()],
])('the start waits for the leader of the stream with the %s', async (_name, open) => {
  await open(electing());
});
