// @module-tag nats-server
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startNats, type TestServer } from '../../test/servers/index.ts';
import { openNats } from './nats.ts';
import { driverOptions, record } from './testing/conformance.ts';
import { testKills } from './testing/kills.ts';
import { describeStream } from './testing/streams.ts';

describe('NATS', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startNats({ flags: ['--user', 'writer', '--pass', 'right'] });
  });
  afterAll(() => server.stop());
  const connection = () => ({ url: server.url, username: 'writer', password: 'right', tls: 'disable' });

  const admin = () => connect({ servers: server.url, user: 'writer', pass: 'right' });
  let streams = 0;
  async function freshTarget(): Promise<string> {
    const subject = `events.${++streams}`;
    const nc = await admin();
    const manager = await jetstreamManager(nc);
    const window = 3_600_000_000_000;
    await manager.streams.add({ name: `S${streams}`, subjects: [subject], storage: StorageType.File, duplicate_window: window });
    await nc.close();
    return subject;
  }
  async function stored(subject: string) {
    const nc = await admin();
    const manager = await jetstreamManager(nc);
    const name = await manager.streams.find(subject);
    const { messages } = (await manager.streams.info(name)).state;
    await manager.consumers.add(name, { durable_name: 'reader', ack_policy: AckPolicy.None, deliver_policy: DeliverPolicy.All });
    const consumer = await jetstream(nc).consumers.get(name, 'reader');
    const found: { event_id: string; values: unknown }[] = [];
    while (found.length < messages)
      for await (const message of await consumer.fetch({ max_messages: messages - found.length, expires: 5_000 }))
        found.push({ event_id: message.headers?.get('Nats-Msg-Id') ?? '', values: message.json() });
    await manager.consumers.delete(name, 'reader');
    await nc.close();
    return found;
  }

  describeStream('NATS', () => ({
    open: openNats,
    server,
    connection: connection(),
    wrongCredentials: { ...connection(), password: 'wrong' },
    nobody: { url: 'nats://127.0.0.1:1', tls: 'disable' },
    freshTarget,
    stored,
    once: true,
    survivesKill: true,
  }));

  testKills('NATS', async () => {
    const subject = await freshTarget();
    const name = `S${streams}`;
    return {
      vendor: 'nats',
      config: { ...connection(), subject },
      count: async () => {
        const nc = await admin();
        const { state } = await (await jetstreamManager(nc)).streams.info(name);
        await nc.close();
        return state.messages;
      },
      eventIds: async () => (await stored(subject)).map(({ event_id }) => event_id),
      exactlyOnce: true,
    };
  });

  test('a subject without a stream waits, and arrives once there is one', async () => {
    const transport = openNats(connection(), driverOptions());
    const subject = `events.${streams + 1}`;
    const verdict = await transport.send([record(subject, 1)], { timeout_ms: 20_000 });
    expect(verdict).toMatchObject({ kind: 'partial', items: [{ kind: 'unavailable' }] });
    expect(await freshTarget()).toBe(subject);
    expect(await transport.send([record(subject, 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    await transport.close();
  });

  test.each(['two words', 'a..b', 'a.*', ''])('%j is not a subject', async (subject) => {
    const transport = openNats(connection(), driverOptions());
    expect(await transport.send([record(subject, 1)], { timeout_ms: 20_000 })).toMatchObject({
      kind: 'partial',
      items: [{ kind: 'refused' }],
    });
    await transport.close();
  });
});
