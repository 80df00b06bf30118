// @module-tag nats-server
import { MessageChannel } from 'node:worker_threads';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startNats, type TestServer } from '../../../test/servers/index.ts';
import { ThreadLink } from '../../runtime/thread-link.ts';
import { until } from '../event-log/conformance/kit.ts';
import { connectNats } from '../event-log/jetstream.ts';
import { inProcessEphemeral } from './in-process.ts';
import { natsEphemeral } from './nats.ts';
import type { Ephemeral } from './port.ts';
import { threadsEphemeral } from './threads.ts';

let server: TestServer;
let connections: NatsConnection[] = [];
beforeAll(async () => {
  server = await startNats();
  connections = [await connectNats(server.url), await connectNats(server.url)];
});
afterAll(async () => {
  for (const connection of connections) await connection.close();
  await server.stop();
});

type Pair = { sender: Ephemeral; receiver: Ephemeral; errors: unknown[] };
const engines: [name: string, make: () => Pair][] = [
  [
    'in process',
    () => {
      const errors: unknown[] = [];
      const ephemeral = inProcessEphemeral({ onError: (error) => errors.push(error) });
      return { sender: ephemeral, receiver: ephemeral, errors };
    },
  ],
  [
    'between two threads',
    () => {
      const errors: unknown[] = [];
      const { port1, port2 } = new MessageChannel();
      const [sender, receiver] = [port1, port2].map((port) => {
        port.unref();
        return threadsEphemeral([new ThreadLink(port)], { onError: (error) => errors.push(error) });
      });
      return { sender: sender!, receiver: receiver!, errors };
    },
  ],
  [
    'between two threads that both know a third one',
    () => {
      const errors: unknown[] = [];
      const onError = (error: unknown) => errors.push(error);
      const pairs = [new MessageChannel(), new MessageChannel()];
      for (const { port1, port2 } of pairs) for (const port of [port1, port2]) port.unref();
      const between = threadsEphemeral(
        pairs.map(({ port1 }) => new ThreadLink(port1)),
        { onError },
      );
      const [sender, receiver] = pairs.map(({ port2 }) => threadsEphemeral([new ThreadLink(port2)], { onError }));
      onTestFinished(() => between.close());
      return { sender: sender!, receiver: receiver!, errors };
    },
  ],
  [
    'NATS, between two processes',
    () => {
      const errors: unknown[] = [];
      const [sender, receiver] = connections.map((connection) => natsEphemeral({ connection, onError: (error) => errors.push(error) }));
      return { sender: sender!, receiver: receiver!, errors };
    },
  ],
];

let probes = 0;
/** Until the sender knows what the receiver listens to: subscriptions arrive in their order. */
async function subscribed({ sender, receiver }: Pick<Pair, 'sender' | 'receiver'>): Promise<void> {
  const channel = `probe-${++probes}`;
  let heard = false;
  const end = receiver.subscribe(channel, () => (heard = true));
  await until(() => {
    sender.publish(channel, 'probe');
    return heard;
  });
  end();
}

describe.each(engines)('ephemeral frames: %s', (engine, make) => {
  function pair(): Pair {
    const made = make();
    onTestFinished(async () => {
      await made.sender.close();
      await made.receiver.close();
    });
    return made;
  }

  test('reach only the listeners of their channel, in order', async () => {
    const { sender, receiver } = pair();
    const [a, b]: unknown[][] = [[], []];
    receiver.subscribe('debug.org_1 *>é', (message) => a!.push(message));
    receiver.subscribe('debug.org_2', (message) => b!.push(message));
    await subscribed({ sender, receiver });
    for (let i = 0; i < 5; i++) sender.publish('debug.org_1 *>é', { i, text: '\u0000é' });
    await until(() => a!.length === 5);
    expect(a).toEqual(Array.from({ length: 5 }, (__, i) => ({ i, text: '\u0000é' })));
    expect(b).toEqual([]);
  });

  test('end with the subscription, independently of others', async () => {
    const { sender, receiver } = pair();
    let count = 0;
    const listener = () => void count++;
    const end = receiver.subscribe('c', listener);
    receiver.subscribe('c', listener);
    await subscribed({ sender, receiver });
    sender.publish('c', 1);
    await until(() => count === 2);
    end();
    end();
    await subscribed({ sender, receiver });
    sender.publish('c', 2);
    await until(() => count === 3);
  });

  test('a listener that throws disturbs neither the others nor the sender', async () => {
    const { sender, receiver, errors } = pair();
    let heard = 0;
    receiver.subscribe('c', () => {
      throw new Error('on purpose');
    });
    receiver.subscribe('c', () => void heard++);
    await subscribed({ sender, receiver });
    sender.publish('c', undefined);
    await until(() => heard === 1 && errors.length === 1);
  });

  test('a message that the broker does not take is sent smaller', async () => {
    const { sender, receiver, errors } = pair();
    const heard: { payload: unknown }[] = [];
    receiver.subscribe('c', (message) => heard.push(message as { payload: unknown }));
    await subscribed({ sender, receiver });
    for (const payload of ['small', '世'.repeat(400_000)]) sender.publish('c', { payload }, () => ({ payload: null }));
    await until(() => heard.length === 2);
    expect(heard.map(({ payload }) => (payload === null ? null : String(payload).length))).toEqual([
      5,
      engine.startsWith('NATS') ? null : 400_000,
    ]);
    expect(errors).toEqual([]);
  });

  test('nothing after close', async () => {
    const { sender, receiver } = make();
    let heard = 0;
    receiver.subscribe('c', () => void heard++);
    await receiver.close();
    await sender.close();
    sender.publish('c', 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(heard).toBe(0);
  });
});

test('the thread in the middle of others hears and reaches all of them, each frame once', async () => {
  const pairs = [new MessageChannel(), new MessageChannel()];
  for (const { port1, port2 } of pairs) for (const port of [port1, port2]) port.unref();
  const middle = threadsEphemeral(pairs.map(({ port1 }) => new ThreadLink(port1)));
  const [left, right] = pairs.map(({ port2 }) => threadsEphemeral([new ThreadLink(port2)]));
  const all = [left!, middle, right!];
  const heard = all.map((): unknown[] => []);
  const ends = all.map((one, i) => one.subscribe('c', (message) => heard[i]!.push(message)));
  await until(() => {
    for (const one of all) one.publish('c', 'ready');
    return heard.every((messages) => messages.length > 2);
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const messages of heard) messages.length = 0;
  for (const [i, one] of all.entries()) one.publish('c', i);
  await until(() => heard.every((messages) => messages.length >= 3));
  ends[2]!();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(heard.map((messages) => messages.toSorted())).toEqual([
    [0, 1, 2],
    [0, 1, 2],
    [0, 1, 2],
  ]);
  left!.publish('c', 'after the end');
  await until(() => heard[1]!.length === 4);
  expect(heard[2]).toHaveLength(3);
  await Promise.all(all.map((one) => one.close()));
});
