/** A member of a Kafka consumer group. Offsets are committed after the events are durable, so a crash repeats and never skips. */
import { Consumer as KafkaConsumer, type Message, MessagesStreamFallbackModes, MessagesStreamModes } from '@platformatic/kafka';
import { SocketGuard } from '../../outbound/guarded-sockets.ts';
import { kafkaFrames } from '../frame-limits.ts';
import { kafkaConnection, kafkaErrorText } from '../kafka-connection.ts';
import { within } from '../lazy-client.ts';
import { MAX_MESSAGES, type OpenConsumer, type SourceMessage, WAIT_MS } from './port.ts';

const OPEN_MS = 60_000;
const CLOSE_MS = 5_000;
const COMMIT_MS = 20_000;
/** Of one fetch from one broker. A broker sends a larger batch of messages alone. */
const FETCH_BYTES = 8 * 1_048_576;

/** `brokers`, `topic`, `group`, `tls`, `ca`, `sasl_mechanism`, `username`. The secret is the password. */
export const openKafkaConsumer: OpenConsumer = async ({ id, connection, secret }, options) => {
  const { topic = '', group } = connection;
  const guard = new SocketGuard(options, kafkaFrames());
  return guard.run(async () => {
    const consumer = new KafkaConsumer({
      ...kafkaConnection({ ...connection, password: secret }),
      groupId: group || `firsthand-${id}`,
      // A process that takes over is the same member: it need not wait for the end of the other's session.
      groupInstanceId: `firsthand-${id}`,
      sessionTimeout: 30_000,
      rebalanceTimeout: 30_000,
      retries: 2,
      retryDelay: 500,
      autocommit: false,
      maxWaitTime: 1_000,
      maxBytes: FETCH_BYTES,
      highWaterMark: MAX_MESSAGES,
    });
    const close = () => within(consumer.close(true), performance.now() + CLOSE_MS).catch(() => undefined);
    try {
      const stream = await within(
        consumer.consume({
          topics: [topic],
          mode: MessagesStreamModes.COMMITTED,
          fallbackMode: MessagesStreamFallbackModes.EARLIEST,
          autocommit: false,
        }),
        performance.now() + OPEN_MS,
      );
      let failure: Error | undefined;
      let wake: (() => void) | undefined;
      stream.on('error', (error: Error) => {
        failure = error;
        wake?.();
      });
      stream.on('close', () => {
        failure ??= new Error('the connection was closed');
        wake?.();
      });
      stream.on('readable', () => wake?.());
      /** The next offset of each partition. */
      let ends = new Map<number, bigint>();

      const take = (): SourceMessage[] => {
        const messages: SourceMessage[] = [];
        while (messages.length < MAX_MESSAGES) {
          const message = stream.read() as Message | null;
          if (message === null) break;
          ends.set(message.partition, message.offset + 1n);
          messages.push(sourceMessage(message));
        }
        return messages;
      };
      return {
        async receive() {
          ends = new Map();
          const deadline = performance.now() + WAIT_MS;
          for (;;) {
            if (failure) throw new Error(guard.refused?.message ?? guard.fault ?? kafkaErrorText(failure));
            const messages = take();
            const left = deadline - performance.now();
            if (messages.length > 0 || left <= 0) return messages;
            await new Promise<void>((resolve) => {
              const timer = setTimeout(resolve, left);
              wake = () => {
                clearTimeout(timer);
                resolve();
              };
            });
          }
        },
        async acknowledge() {
          if (ends.size === 0) return;
          const offsets = [...ends].map(([partition, offset]) => ({ topic, partition, offset, leaderEpoch: -1 }));
          await within(consumer.commit({ offsets }), performance.now() + COMMIT_MS);
        },
        async lag() {
          const lags = (await consumer.getLag({ topics: [topic] })).get(topic) ?? [];
          return Number(lags.reduce((sum, lag) => sum + (lag > 0n ? lag : 0n), 0n));
        },
        async close() {
          failure ??= new Error('closed');
          wake?.();
          await close();
        },
      };
    } catch (error) {
      await close();
      throw new Error(guard.refused?.message ?? guard.fault ?? kafkaErrorText(error));
    }
  });
};

function sourceMessage({ topic, partition, offset, key, value, headers }: Message): SourceMessage {
  const named: Record<string, string> = {};
  for (const [name, text] of headers) named[name.toString().toLowerCase()] = text?.toString() ?? '';
  return {
    id: `${topic}/${partition}/${offset}`,
    headers: named,
    query: { topic, partition: String(partition), offset: String(offset), ...(key ? { key: key.toString() } : {}) },
    // A tombstone has no value.
    body: value ?? Buffer.alloc(0),
  };
}
