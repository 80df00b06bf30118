import { Admin, Producer } from '@platformatic/kafka';
import { afterAll, beforeAll, describe } from 'vitest';
import { canHaveKafka, KAFKA_PASSWORD, startKafka } from '../../../../test/servers/index.ts';
import { describeSource } from './testing/source-suite.ts';

describe.skipIf(!canHaveKafka())(`Kafka${canHaveKafka() ? '' : ' (no Java, or no Maven: left out)'}`, () => {
  let server: Awaited<ReturnType<typeof startKafka>>;
  let topics = 0;
  beforeAll(async () => {
    server = await startKafka();
  }, 300_000);
  afterAll(() => server.stop());

  describeSource('Kafka', () => ({
    kind: 'kafka',
    secret: KAFKA_PASSWORD,
    async fresh() {
      const topic = `source-${++topics}`;
      const admin = new Admin({ clientId: 'test', bootstrapBrokers: [server.url] });
      await admin.createTopics({ topics: [topic], partitions: 3, replicas: 1 });
      await admin.close();
      return topic;
    },
    connection: (topic) => ({
      brokers: `127.0.0.1:${server.saslPort}`,
      topic,
      group: `group-${topic}`,
      tls: 'disable',
      sasl_mechanism: 'PLAIN',
      username: 'writer',
    }),
    async publish(topic, bodies) {
      // A partition of a new topic may have no leader yet: the repeat of the request must not store the others twice.
      const producer = new Producer({ clientId: 'test', bootstrapBrokers: [server.url], idempotent: true, retries: 5 });
      await producer.send({ messages: bodies.map((body, i) => ({ topic, key: Buffer.from(`k${i}`), value: Buffer.from(body) })) });
      await producer.close();
    },
    restart: () => server.kill().then(() => server.restart()),
  }));
});
