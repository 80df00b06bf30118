import { Connection } from 'rabbitmq-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findRabbitmq } from '../../test/servers/find.ts';
import { startRabbitmq, type TestServer } from '../../test/servers/index.ts';
import { openRabbitmq } from './rabbitmq.ts';
import { driverOptions, record } from './testing/conformance.ts';
import { testKills } from './testing/kills.ts';
import { describeStream } from './testing/streams.ts';

describe.skipIf(!findRabbitmq())(`RabbitMQ${findRabbitmq() ? '' : ' (not installed: left out)'}`, () => {
  let server: TestServer;
  let admin: Connection;
  beforeAll(async () => {
    server = await startRabbitmq();
    admin = new Connection({ url: server.url });
    admin.on('error', () => undefined);
  });
  afterAll(async () => {
    await admin.close();
    await server.stop();
  });
  let queues = 0;
  async function freshTarget(): Promise<string> {
    const queue = `events ${++queues}`;
    await admin.queueDeclare({ queue, durable: true });
    return queue;
  }
  async function stored(queue: string) {
    const found: { event_id: string; values: unknown }[] = [];
    const channel = await admin.acquire();
    for (;;) {
      const message = await channel.basicGet({ queue, noAck: true });
      if (!message) break;
      found.push({ event_id: message.messageId ?? '', values: message.body });
    }
    await channel.close();
    return found;
  }

  describeStream('RabbitMQ', () => ({
    open: openRabbitmq,
    server,
    connection: { url: server.url },
    wrongCredentials: { url: server.url, username: 'guest', password: 'wrong' },
    nobody: { url: 'amqp://127.0.0.1:1' },
    freshTarget,
    stored,
    once: false,
    survivesKill: true,
  }));

  testKills('RabbitMQ', async () => {
    const queue = await freshTarget();
    return {
      vendor: 'rabbitmq',
      config: { url: server.url, exchange: '', routing_key: queue },
      count: async () => (await admin.queueDeclare({ queue, passive: true })).messageCount,
      eventIds: async () => (await stored(queue)).map(({ event_id }) => event_id),
      exactlyOnce: false,
    };
  });

  test('an exchange routes by key; a key without a queue is unavailable, although the broker confirms it', async () => {
    const queue = await freshTarget();
    await admin.exchangeDeclare({ exchange: 'events', type: 'topic', durable: true });
    await admin.queueBind({ exchange: 'events', queue, routingKey: 'kept.*' });
    const transport = openRabbitmq({ url: server.url, exchange: 'events' }, driverOptions());
    expect(await transport.send([record('kept.a', 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    expect(await transport.send([record('other', 2), record('kept.b', 3)], { timeout_ms: 20_000 })).toMatchObject({
      kind: 'partial',
      items: [{ kind: 'unavailable', reason: 'rabbitmq: no queue takes this routing key' }, { kind: 'delivered' }],
    });
    await transport.close();
    expect((await stored(queue)).map(({ event_id }) => event_id)).toEqual(['e1', 'e3']);
  });

  test('a missing exchange is unavailable, and delivers once it exists', async () => {
    const transport = openRabbitmq({ url: server.url, exchange: 'later' }, driverOptions());
    expect(await transport.send([record('a', 1)], { timeout_ms: 20_000 })).toMatchObject({
      kind: 'partial',
      items: [{ kind: 'unavailable' }],
    });
    const queue = await freshTarget();
    await admin.exchangeDeclare({ exchange: 'later', type: 'fanout' });
    await admin.queueBind({ exchange: 'later', queue, routingKey: '' });
    await expect.poll(() => transport.send([record('a', 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    await transport.close();
  });
});
