import { loadKafkaClient } from '../kafka-client.ts';
import type { ConsumerKind, OpenConsumer } from './port.ts';

/** Loaded when the first source needs one. */
export const CONSUMERS: Record<ConsumerKind, () => Promise<OpenConsumer>> = {
  kafka: async () => {
    await loadKafkaClient();
    return (await import('./kafka.ts')).openKafkaConsumer;
  },
  nats: async () => (await import('./nats.ts')).openNatsConsumer,
  sqs: async () => (await import('./sqs.ts')).openSqsConsumer,
};
