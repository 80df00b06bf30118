import { readTopic } from '@firsthand/server/transports/testing/read-topic.ts';
import { Admin, Consumer, compatibilityPartitioner, ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka';
import { orderAt } from './visitor-order.ts';

const PARTITIONS = 6;
const PER_SEND = 1_000;

export async function createTopic(broker: string, topic: string): Promise<void> {
  const admin = new Admin({ clientId: 'acceptance', bootstrapBrokers: [broker] });
  await admin.createTopics({ topics: [topic], partitions: PARTITIONS, replicas: 1 });
  await admin.close();
}

/** Writes the same records with the same client and settings. Returns the seconds, without the making of the records. */
export async function writeDirectly(broker: string, topic: string, events: number): Promise<number> {
  const producer = new Producer({
    clientId: 'floor',
    bootstrapBrokers: [broker],
    idempotent: true,
    acks: ProduceAcks.ALL,
    retries: 2,
    partitioner: compatibilityPartitioner,
    serializers: stringSerializers,
  });
  let ms = 0;
  for (let from = 0; from < events; from += PER_SEND) {
    const messages = Array.from({ length: Math.min(PER_SEND, events - from) }, (_, i) => {
      const event = orderAt(from + i);
      const headers = { event_id: event.event_id, 'content-type': 'application/json' };
      return { topic, key: event.anonymous_id ?? '', value: JSON.stringify(event), headers };
    });
    const began = performance.now();
    await producer.send({ messages });
    ms += performance.now() - began;
  }
  await producer.close();
  return ms / 1_000;
}

export async function endOffsets(broker: string, topic: string): Promise<number> {
  const consumer = new Consumer({ clientId: 'acceptance', groupId: 'acceptance', bootstrapBrokers: [broker] });
  const ends = (await consumer.listOffsets({ topics: [topic], timestamp: -1n })).get(topic) ?? [];
  await consumer.close(true);
  return Number(ends.reduce((sum, end) => sum + end, 0n));
}

/** `swapped` counts events that first arrived after a later event of the same visitor. */
export async function orderIn(broker: string, topic: string): Promise<{ ids: number; messages: number; swapped: number }> {
  const seen = new Set<string>();
  const last = new Map<string, number>();
  let messages = 0;
  let swapped = 0;
  await readTopic(broker, topic, ({ key, value, headers }) => {
    messages++;
    const id = headers.get('event_id') ?? '';
    if (seen.has(id)) return;
    seen.add(id);
    const n = Number(/"n":(\d+)/.exec(value)?.[1]);
    if (n < (last.get(key) ?? -1)) swapped++;
    last.set(key, Math.max(n, last.get(key) ?? -1));
  });
  return { ids: seen.size, messages, swapped };
}
