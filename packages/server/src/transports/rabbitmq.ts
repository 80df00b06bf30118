/**
 * Messages through a RabbitMQ exchange. A message counts as delivered when the broker confirmed it and routed it to a queue. All
 * messages of an integration share one channel, so they keep their order. The broker does not deduplicate.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Verdict } from '@firsthand/core/vendor/compiled.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { Connection, type Publisher } from 'rabbitmq-client';
import { SocketGuard } from '../outbound/guarded-sockets.ts';
import { errorText } from '../runtime/error-text.ts';
import { jsonBytes } from './json-bytes.ts';
import { LazyClient, tlsOptions, verdictOfAll, within } from './lazy-client.ts';
import type { OpenTransport } from './port.ts';

interface Client {
  connection: Connection;
  publisher: Publisher;
  /** Message ids that the broker confirmed although no queue took them. */
  returned: Set<string>;
}
const CONNECT_MS = 10_000;
const FRAME_BYTES = 131_072;
const CLOSE_MS = 2_000;
/** Of the protocol. The client would cut a longer one. */
const ROUTING_KEY_BYTES = 255;

/** `url`, `username`, `password`, `tls` for `amqps:`, `ca`, …, `exchange` (empty: the target is a queue). */
export const openRabbitmq: OpenTransport = (settings, options) => {
  const guard = new SocketGuard(options);
  const client = new LazyClient<Client>(() => guard.run(() => open(settings)), end);

  return {
    async send(records, { timeout_ms }) {
      const deadline = performance.now() + timeout_ms;
      if (records.some(({ target }) => Buffer.byteLength(target) > ROUTING_KEY_BYTES)) {
        const reason = `rabbitmq: the routing key has more than ${ROUTING_KEY_BYTES} bytes`;
        return records.length === 1 ? { kind: 'refused', reason } : { kind: 'unavailable', reason, isolate: true };
      }
      try {
        const { publisher, returned } = await client.use(deadline);
        const sent = records.map((record) => publish(publisher, record, settings.exchange ?? ''));
        const confirmed = await guard.run(() => within(Promise.all(sent), deadline));
        // The client passes a returned message on in the turn after its confirm.
        await nextTurn();
        const verdicts = confirmed.map(
          (verdict, i): RecordVerdict => (verdict.kind === 'delivered' && returned.delete(records[i]?.event_id ?? '') ? UNROUTED : verdict),
        );
        // The broker closes the channel at a message that it refuses, and the others on it with it.
        if (verdicts.some(({ kind }) => kind === 'refused') && records.length > 1)
          return { kind: 'unavailable', reason: reasonOf(verdicts), isolate: true };
        return verdictOfAll(verdicts);
      } catch (error) {
        client.discard();
        return guard.refused
          ? { kind: 'refused', reason: guard.refused.message }
          : { kind: 'unavailable', reason: `rabbitmq: ${errorText(error)}` };
      }
    },
    close: () => client.close(),
  };
};

type RecordVerdict = Exclude<Verdict, { kind: 'partial' }>;
const UNROUTED: RecordVerdict = { kind: 'unavailable', reason: 'rabbitmq: no queue takes this routing key' };

async function publish(publisher: Publisher, record: TransportRecord, exchange: string): Promise<RecordVerdict> {
  const { event_id, target } = record;
  const envelope = { exchange, routingKey: target, mandatory: true, durable: true, messageId: event_id, contentType: 'application/json' };
  try {
    await publisher.send(envelope, jsonBytes(record));
    return { kind: 'delivered' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = `rabbitmq: ${code === '' ? '' : `${code}: `}${errorText(error)}`;
    return code === 'PRECONDITION_FAILED' && /message size|larger than/.test(reason)
      ? { kind: 'refused', reason }
      : { kind: 'unavailable', reason };
  }
}
function reasonOf(verdicts: RecordVerdict[]): string {
  const refused = verdicts.find(({ kind }) => kind === 'refused');
  return refused && 'reason' in refused ? refused.reason : '';
}

async function open(settings: Readonly<Record<string, string>>): Promise<Client> {
  const url = new URL(settings.url ?? '');
  if (url.protocol !== 'amqp:' && url.protocol !== 'amqps:') throw new Error('the URL must begin with amqp:// or amqps://');
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const tls = url.protocol === 'amqps:' ? tlsOptions(settings) : undefined;
  const connection = new Connection({
    hostname,
    port: Number(url.port || (tls ? 5671 : 5672)),
    username: settings.username || decodeURIComponent(url.username) || 'guest',
    password: settings.password || decodeURIComponent(url.password) || 'guest',
    vhost: decodeURIComponent(url.pathname.slice(1)) || '/',
    ...(tls ? { tls: { ...tls, servername: hostname } } : {}),
    connectionTimeout: CONNECT_MS,
    acquireTimeout: CONNECT_MS,
    frameMax: FRAME_BYTES,
    connectionName: 'firsthand',
  });
  const returned = new Set<string>();
  const publisher = connection.createPublisher({ confirm: true, maxAttempts: 1 });
  publisher.on('basic.return', ({ messageId }) => messageId !== undefined && returned.add(messageId));
  // The client retries without end; the first failure says why, such as a wrong password.
  await new Promise<void>((resolve, reject) => {
    connection.once('connection', resolve);
    // Stays, for every later error: the next delivery reports it.
    connection.on('error', reject);
  }).catch((error: unknown) => {
    connection.unsafeDestroy();
    throw error;
  });
  return { connection, publisher, returned };
}

/** A broken connection does not answer a polite end. */
async function end({ connection }: Client): Promise<void> {
  await within(connection.close(), performance.now() + CLOSE_MS).catch(() => connection.unsafeDestroy());
}
