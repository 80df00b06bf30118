import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AWS_KEY, type AwsAnswer, type AwsCall, startAws, startNats, type TestServer } from '../../../../test/servers/index.ts';
import { openNatsConsumer } from '../../../transports/consumers/nats.ts';
import { driverOptions } from '../../../transports/testing/conformance.ts';
import { describeSource } from './testing/source-suite.ts';

describe('NATS', { tags: ['nats-server'] }, () => {
  let server: TestServer;
  let streams = 0;
  beforeAll(async () => {
    server = await startNats({ flags: ['--user', 'reader', '--pass', 'right'] });
  });
  afterAll(() => server.stop());
  const admin = () => connect({ servers: server.url, user: 'reader', pass: 'right' });

  describeSource(
    'NATS JetStream',
    () => ({
      kind: 'nats',
      secret: 'right',
      async fresh() {
        const nc = await admin();
        const name = `S${++streams}`;
        await (await jetstreamManager(nc)).streams.add({ name, subjects: [name.toLowerCase()], storage: StorageType.File });
        await nc.close();
        return name;
      },
      connection: (stream) => ({ url: server.url, stream, tls: 'disable', authentication: 'password', username: 'reader' }),
      async publish(stream, bodies) {
        const nc = await admin();
        for (const body of bodies) await jetstream(nc).publish(stream.toLowerCase(), body);
        await nc.close();
      },
      restart: () => server.kill().then(() => server.restart()),
    }),
    { takeover: ['long'] },
  );

  test('one fetch is limited in bytes: large messages after small ones are read with another connection, few at a time', async () => {
    const nc = await admin();
    await (await jetstreamManager(nc)).streams.add({ name: 'LARGE', subjects: ['large'], storage: StorageType.File });
    for (let i = 0; i < 48; i++) await jetstream(nc).publish('large', '{}');
    for (let i = 0; i < 48; i++) await jetstream(nc).publish('large', Buffer.alloc(900_000, 'x'));
    await nc.close();
    const connection = { url: server.url, stream: 'LARGE', tls: 'disable', authentication: 'password', username: 'reader' };
    const open = async () => {
      const consumer = await openNatsConsumer({ id: 'whs_large', connection, secret: 'right' }, driverOptions());
      onTestFinished(() => consumer.close());
      return consumer;
    };
    const first = await open();
    for (const count of [16, 32]) {
      expect(await first.receive()).toHaveLength(count);
      await first.acknowledge();
    }
    await expect(first.receive()).rejects.toThrow(/more than 33554432 bytes/);
    await first.close();
    const again = await (await open()).receive();
    expect(again.length).toBeGreaterThan(0);
    expect(again.length).toBeLessThanOrEqual(16);
  });
});

/** The queue that the answers of the service need: messages are hidden while they are received, and deleted by receipt. */
class Queue {
  readonly #messages = new Map<string, { body: string; hiddenUntil: number }>();
  #ids = 0;
  send(body: string): void {
    this.#messages.set(`m-${++this.#ids}`, { body, hiddenUntil: 0 });
  }
  answer({ target, json }: AwsCall): AwsAnswer {
    if (target === 'AmazonSQS.ReceiveMessage') {
      const visible = [...this.#messages]
        .filter(([, { hiddenUntil }]) => hiddenUntil <= Date.now())
        .slice(0, Number(json.MaxNumberOfMessages));
      // A second instead of the minute that the consumer asks for: redelivery is what the tests are about.
      for (const [, message] of visible) message.hiddenUntil = Date.now() + 1_000;
      return { status: 200, body: { Messages: visible.map(([id, { body }]) => ({ MessageId: id, ReceiptHandle: id, Body: body })) } };
    }
    if (target === 'AmazonSQS.DeleteMessageBatch') {
      const entries = json.Entries as { Id: string; ReceiptHandle: string }[];
      for (const { ReceiptHandle } of entries) this.#messages.delete(ReceiptHandle);
      return { status: 200, body: { Successful: entries.map(({ Id }) => ({ Id })), Failed: [] } };
    }
    return { status: 200, body: { Attributes: { ApproximateNumberOfMessages: String(this.#messages.size), QueueArn: 'arn' } } };
  }
}

describe('SQS', () => {
  const queues = new Map<string, Queue>();
  let server: Awaited<ReturnType<typeof startAws>>;
  beforeAll(async () => {
    server = await startAws(async (call) => {
      const queue = queues.get(String(call.json.QueueUrl));
      if (!queue) return { status: 400, body: { __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'no queue' } };
      const answer = queue.answer(call);
      // Long polling.
      if (call.target === 'AmazonSQS.ReceiveMessage' && (answer.body as { Messages: unknown[] }).Messages.length === 0)
        await new Promise((resolve) => setTimeout(resolve, 100));
      return answer;
    });
  });
  afterAll(() => server.stop());

  describeSource('Amazon SQS', () => ({
    kind: 'sqs',
    secret: AWS_KEY.secret_access_key,
    async fresh() {
      const url = `https://sqs.eu-central-1.amazonaws.com/123456789012/queue-${queues.size + 1}`;
      queues.set(url, new Queue());
      return url;
    },
    connection: (queue_url) => ({ queue_url, region: 'eu-central-1', access_key_id: AWS_KEY.access_key_id, endpoint: `${server.url}/` }),
    async publish(url, bodies) {
      for (const body of bodies) queues.get(url)?.send(String(body));
    },
  }));
});
