/** A durable pull consumer of a JetStream stream. Messages are acknowledged after the events are durable. */
import { AckPolicy, type ConsumerMessages, DeliverPolicy, type JsMsg, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { SocketGuard } from '../../outbound/guarded-sockets.ts';
import { errorText } from '../../runtime/error-text.ts';
import { natsMessages } from '../frame-limits.ts';
import { within } from '../lazy-client.ts';
import { connectNats } from '../nats.ts';
import { MAX_MESSAGES, type OpenConsumer, type SourceMessage } from './port.ts';

const NOT_FOUND = 10_014;
/** A message that is not acknowledged within this time is delivered again. */
const ACK_WAIT_NS = 30_000_000_000;
const CLOSE_MS = 2_000;
/** Messages that come one by one are stored together after this time. */
const FETCH_MS = 1_000;
/** Messages of one fetch together. Counted here: the client asks for a number of messages or of bytes, not for both. */
const FETCH_BYTES = 32 * 1_048_576;
const FIRST_MESSAGES = 16;

/** `url`, `stream`, `subject` (a filter), `durable`, `tls`, `ca`, `username`, `authentication`: what the secret is. */
export const openNatsConsumer: OpenConsumer = async ({ id, connection, secret }, options) => {
  const { stream = '', subject, durable = `firsthand-${id}`, authentication = 'none' } = connection;
  const login =
    authentication === 'token' ? { token: secret } : authentication === 'credentials' ? { credentials: secret } : { password: secret };
  const guard = new SocketGuard(options, natsMessages());
  try {
    const nc = await guard.run(() => connectNats({ ...connection, ...(authentication === 'none' ? {} : login) }));
    try {
      const manager = await jetstreamManager(nc);
      await manager.consumers.info(stream, durable).catch(async (error: { code?: number }) => {
        if (error.code !== NOT_FOUND) throw error;
        await manager.consumers.add(stream, {
          durable_name: durable,
          ack_policy: AckPolicy.Explicit,
          deliver_policy: DeliverPolicy.All,
          ack_wait: ACK_WAIT_NS,
          max_ack_pending: 2 * MAX_MESSAGES,
          ...(subject ? { filter_subject: subject } : {}),
        });
      });
      const consumer = await jetstream(nc).consumers.get(stream, durable);
      let batch: ConsumerMessages | undefined;
      let received: JsMsg[] = [];
      // Few at first; then by the largest message of the last fetch.
      let most = Math.max(1, Math.min(FIRST_MESSAGES, Math.floor(FETCH_BYTES / (nc.info?.max_payload ?? 1_048_576))));
      return {
        async receive() {
          if (nc.isClosed()) throw new Error('the connection was closed');
          received = [];
          // Read to its end: a message of an abandoned request would wait for its redelivery.
          batch = await consumer.fetch({ max_messages: most, expires: FETCH_MS });
          let bytes = 0;
          let largest = 1;
          for await (const message of batch) {
            received.push(message);
            bytes += message.data.length;
            largest = Math.max(largest, message.data.length);
            // Much larger messages than before, or a server that sends more than it was asked for. The next connection begins with few.
            if (received.length > 1 && (bytes > FETCH_BYTES || received.length > MAX_MESSAGES))
              throw new Error(`the server sent more than ${FETCH_BYTES} bytes or ${MAX_MESSAGES} messages at once`);
          }
          if (received.length > 0) most = Math.max(1, Math.min(MAX_MESSAGES, 2 * most, Math.floor(FETCH_BYTES / largest)));
          return received.map(sourceMessage);
        },
        async acknowledge() {
          for (const message of received) message.ack();
          received = [];
          await nc.flush();
        },
        async lag() {
          const { num_pending, num_ack_pending } = await consumer.info();
          return num_pending + num_ack_pending;
        },
        async close() {
          // Messages in hand that are not stored come again at once instead of after the wait for their acknowledgement.
          if (!nc.isClosed()) for (const message of received) message.nak();
          await batch?.close().catch(() => undefined);
          await within(nc.flush(), performance.now() + CLOSE_MS).catch(() => undefined);
          await nc.close().catch(() => undefined);
        },
      };
    } catch (error) {
      await nc.close();
      throw error;
    }
  } catch (error) {
    throw new Error(guard.refused?.message ?? guard.fault ?? errorText(error));
  }
};

function sourceMessage(message: JsMsg): SourceMessage {
  const headers: Record<string, string> = {};
  for (const [name, values] of message.headers ?? []) headers[name.toLowerCase()] = values.join(', ');
  const { stream } = message.info;
  return {
    id: `${stream}/${message.seq}`,
    headers,
    query: { stream, subject: message.subject, sequence: String(message.seq) },
    body: Buffer.from(message.data),
  };
}
