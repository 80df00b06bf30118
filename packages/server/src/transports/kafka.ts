/**
 * Records in Kafka and compatible brokers. The producer is idempotent: a retry inside the client stores nothing twice. A batch
 * that is sent again after a failure or a crash may be, and carries its event id in a header. The key is the visitor, so that a
 * visitor's records share a partition.
 */
import { visitorOf } from '@firsthand/core/event/canonical.ts';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { compatibilityPartitioner, ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka';
import { SocketGuard } from '../outbound/guarded-sockets.ts';
import { kafkaFrames } from './frame-limits.ts';
import { jsonBytes } from './json-bytes.ts';
import { kafkaConnection, kafkaErrorText, kafkaFault } from './kafka-connection.ts';
import { LazyClient, verdictOfAll, within } from './lazy-client.ts';
import type { OpenTransport } from './port.ts';

type JsonProducer = Producer<string, Buffer, string, string>;
const SERIALIZERS = { ...stringSerializers, value: (bytes?: Buffer) => bytes };

/** Faults of a record: too large, or refused by the topic's rules. */
const OF_ONE_RECORD = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP'];
const OF_THE_TOPIC = ['INVALID_TOPIC_EXCEPTION'];
const TOPIC = /^[a-zA-Z0-9._-]{1,249}$/;

/** The settings of `kafka-connection.ts`, and `compression`. */
export const openKafka: OpenTransport = (connection, options) => {
  const guard = new SocketGuard(options, kafkaFrames());
  const client = new LazyClient<JsonProducer>(
    async () =>
      guard.run(
        () =>
          new Producer({
            ...kafkaConnection(connection),
            idempotent: true,
            acks: ProduceAcks.ALL,
            partitioner: compatibilityPartitioner,
            serializers: SERIALIZERS,
            // More than 1, or the client retries without end.
            retries: 2,
            retryDelay: 250,
            ...compressionOf(connection.compression),
          }),
      ),
    (producer) => producer.close(true),
  );

  return {
    async send(records, { timeout_ms }) {
      const deadline = performance.now() + timeout_ms;
      const topic = records[0]?.target ?? '';
      if (!TOPIC.test(topic)) return { kind: 'refused', reason: `${JSON.stringify(topic)} is not a topic name` };
      let producer: JsonProducer | undefined;
      try {
        producer = await client.use(deadline);
        const used = producer;
        await guard.run(() => within(used.send({ messages: records.map(messageOf) }), deadline));
        return { kind: 'delivered' };
      } catch (error) {
        const verdict = await failureOf(error, records, producer, guard.refused, deadline);
        // The next batch gets a fresh producer: this one may still be retrying, or hold a broken connection.
        client.discard();
        return verdict;
      }
    },
    close: () => client.close(),
  };
};

function messageOf(record: TransportRecord) {
  const { event_id, target } = record;
  return { topic: target, key: keyOf(record), value: jsonBytes(record), headers: { event_id, 'content-type': 'application/json' } };
}
function keyOf(record: TransportRecord): string {
  return record.visitor ?? visitorOf(record.event);
}

async function failureOf(
  error: unknown,
  records: readonly TransportRecord[],
  producer: JsonProducer | undefined,
  refused: Error | undefined,
  deadline: number,
): Promise<Verdict> {
  if (refused) return { kind: 'refused', reason: refused.message };
  const reason = `kafka: ${kafkaErrorText(error)}`;
  if (kafkaFault(error, OF_THE_TOPIC)) return { kind: 'refused', reason };
  if (kafkaFault(error, OF_ONE_RECORD))
    return records.length === 1 ? { kind: 'refused', reason } : { kind: 'unavailable', reason, isolate: true };
  const stored = await storedPartitions(error, records, producer, deadline);
  if (stored === undefined) return { kind: 'unavailable', reason };
  return verdictOfAll(records.map((record) => (stored(record) ? { kind: 'delivered' } : { kind: 'unavailable', reason })));
}

/** A failed send names the partitions that took their records: those are not sent again. */
async function storedPartitions(
  error: unknown,
  records: readonly TransportRecord[],
  producer: JsonProducer | undefined,
  deadline: number,
): Promise<((record: TransportRecord) => boolean) | undefined> {
  const topic = records[0]?.target ?? '';
  const produced = (error as { produced?: { offsets?: { partition: number }[] } } | null)?.produced?.offsets ?? [];
  if (produced.length === 0 || producer === undefined) return undefined;
  const metadata = await within(producer.metadata({ topics: [topic] }), deadline).catch(() => undefined);
  const count = metadata?.topics.get(topic)?.partitionsCount;
  if (count === undefined) return undefined;
  const stored = new Set(produced.map(({ partition }) => partition));
  return (record) => stored.has(compatibilityPartitioner(messageOf(record), Buffer.from(keyOf(record))) % count);
}

function compressionOf(name: string | undefined): { compression?: 'gzip' | 'snappy' | 'lz4' | 'zstd' } {
  return name === 'gzip' || name === 'snappy' || name === 'lz4' || name === 'zstd' ? { compression: name } : {};
}
