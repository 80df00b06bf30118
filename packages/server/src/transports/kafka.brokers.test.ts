import { Admin } from '@platformatic/kafka';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canHaveKafka, KAFKA_PASSWORD, startKafka } from '../../test/servers/index.ts';
import { openKafka } from './kafka.ts';
import { driverOptions, record } from './testing/conformance.ts';
import { testKills } from './testing/kills.ts';
import { readTopic } from './testing/read-topic.ts';
import { describeStream } from './testing/streams.ts';

describe.skipIf(!canHaveKafka())(`Kafka${canHaveKafka() ? '' : ' (no Java, or no Maven: left out)'}`, () => {
  let server: Awaited<ReturnType<typeof startKafka>>;
  beforeAll(async () => {
    server = await startKafka();
  }, 300_000);
  afterAll(() => server.stop());
  let topics = 0;
  async function freshTarget(partitions = 1): Promise<string> {
    const topic = `events-${++topics}`;
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [server.url] });
    await admin.createTopics({ topics: [topic], partitions, replicas: 1 });
    await admin.close();
    return topic;
  }
  const connection = () => ({
    brokers: `127.0.0.1:${server.saslPort}`,
    tls: 'disable',
    sasl_mechanism: 'PLAIN',
    username: 'writer',
    password: KAFKA_PASSWORD,
  });
  const stored = async (topic: string) =>
    (await readTopic(server.url, topic)).map(({ headers, value }) => ({
      event_id: headers.get('event_id') ?? '',
      values: JSON.parse(value),
    }));

  describeStream('Kafka', () => ({
    open: openKafka,
    server,
    connection: connection(),
    wrongCredentials: { ...connection(), password: 'wrong' },
    nobody: { brokers: '127.0.0.1:1', tls: 'disable' },
    freshTarget,
    stored,
    once: false,
    survivesKill: true,
  }));

  testKills('Kafka', async () => {
    const topic = await freshTarget(3);
    const eventIds = async () => (await stored(topic)).map(({ event_id }) => event_id);
    return {
      vendor: 'kafka',
      config: { ...connection(), topic },
      eventIds,
      exactlyOnce: false,
    };
  });

  test('records of a visitor share a partition, whatever else is in the batch', async () => {
    const topic = await freshTarget(8);
    const transport = openKafka(connection(), driverOptions());
    const records = Array.from({ length: 400 }, (_, i) => {
      const one = record(topic, i);
      return { ...one, event: { ...one.event, anonymous_id: `visitor-${i % 20}` } };
    });
    expect(await transport.send(records, { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    await transport.close();
    const read = await readTopic(server.url, topic);
    const byVisitor = Map.groupBy(read, ({ key }) => key);
    expect(byVisitor.size).toBe(20);
    expect(new Set(read.map(({ partition }) => partition)).size).toBeGreaterThan(1);
    for (const [, messages] of byVisitor) {
      expect(new Set(messages.map(({ partition }) => partition)).size).toBe(1);
      const numbers = messages.map(({ headers }) => Number(headers.get('event_id')?.slice(1)));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    }
  });

  test.each(['gzip', 'snappy', 'lz4', 'zstd'])('compressed with %s', async (compression) => {
    const topic = await freshTarget();
    const transport = openKafka({ ...connection(), compression }, driverOptions());
    expect(await transport.send([record(topic, 1), record(topic, 2)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    await transport.close();
    expect((await stored(topic)).map(({ event_id }) => event_id)).toEqual(['e1', 'e2']);
  });

  test('a topic that does not exist is unavailable, and a name that cannot exist is refused', async () => {
    const transport = openKafka(connection(), driverOptions());
    expect(await transport.send([record('nowhere', 1)], { timeout_ms: 20_000 })).toMatchObject({ kind: 'unavailable' });
    expect(await transport.send([record('two words', 1)], { timeout_ms: 20_000 })).toMatchObject({ kind: 'refused' });
    await transport.close();
  });
});
