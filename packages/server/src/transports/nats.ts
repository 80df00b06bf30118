/**
 * Messages in NATS JetStream. The event id is the message id: the stream drops a message that comes again within its duplicate
 * window. Messages of a batch are published in order on one connection.
 */
import { JetStreamApiError, type JetStreamClient, jetstream } from '@nats-io/jetstream';
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { SocketGuard } from '../outbound/guarded-sockets.ts';
import { errorText } from '../runtime/error-text.ts';
import { natsMessages } from './frame-limits.ts';
import { jsonBytes } from './json-bytes.ts';
import { LazyClient, tlsOptions, verdictOfAll } from './lazy-client.ts';
import type { OpenTransport } from './port.ts';

const CONNECT_MS = 10_000;
/** Of the message's headers, which count as payload: an event id has up to 255. */
const HEADER_BYTES = 300;
/** The stream's own limit of a message, below that of the server. */
const MESSAGE_TOO_LARGE = 10_054;
/** Tokens without white space and wildcards, separated by dots. */
const SUBJECT = /^[^\s.*>]+(\.[^\s.*>]+)*$/;
const encoder = new TextEncoder();

/** `url` (comma-separated servers), `username`, `password`, `token`, `credentials` (a .creds file), `tls`, `ca`, … */
export const openNats: OpenTransport = (connection, options) => {
  const guard = new SocketGuard(options, natsMessages());
  const client = new LazyClient<{ nc: NatsConnection; js: JetStreamClient }>(
    async () => {
      const nc = await guard.run(() => connectNats(connection));
      return { nc, js: jetstream(nc) };
    },
    ({ nc }) => nc.close(),
  );

  return {
    async send(records, { timeout_ms }) {
      const deadline = performance.now() + timeout_ms;
      try {
        const { nc, js } = await client.use(deadline);
        const largest = (nc.info?.max_payload ?? 1_048_576) - HEADER_BYTES;
        let unanswered = false;
        const verdicts = await Promise.all(
          records.map(async (record) => {
            const { event_id, target } = record;
            if (!SUBJECT.test(target)) return { kind: 'refused' as const, reason: `${JSON.stringify(target)} is not a subject` };
            const data = jsonBytes(record);
            if (data.length > largest) return { kind: 'refused' as const, reason: `the message has more than ${largest} bytes` };
            try {
              const timeout = Math.max(1, Math.ceil(deadline - performance.now()));
              await js.publish(target, data, { msgID: event_id, timeout });
              return { kind: 'delivered' as const };
            } catch (error) {
              unanswered ||= !(error instanceof JetStreamApiError);
              return natsFailure(error);
            }
          }),
        );
        // The connection may be dead without knowing it.
        if (unanswered) client.discard();
        return verdictOfAll(verdicts);
      } catch (error) {
        return guard.refused
          ? { kind: 'refused', reason: guard.refused.message }
          : { kind: 'unavailable', reason: `nats: ${errorText(error)}` };
      }
    },
    close: () => client.close(),
  };
};

export function natsFailure(error: unknown): { kind: 'refused' | 'unavailable'; reason: string } {
  const tooLarge = error instanceof JetStreamApiError && error.code === MESSAGE_TOO_LARGE;
  return { kind: tooLarge ? 'refused' : 'unavailable', reason: `nats: ${errorText(error)}` };
}

/** Also used by sources. Reconnects by itself until it is closed. */
export function connectNats(connection: Readonly<Record<string, string>>): Promise<NatsConnection> {
  const { url = '', username, password, token, credentials } = connection;
  const tls = tlsOptions(connection);
  return connect({
    servers: url.split(',').map((server) => server.trim()),
    name: 'firsthand',
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    // Without null the client changes to TLS where the server only offers it.
    tls: tls ?? null,
    ...(username ? { user: username, pass: password ?? '' } : {}),
    ...(token ? { token } : {}),
    ...(credentials ? { authenticator: credsAuthenticator(encoder.encode(credentials)) } : {}),
  });
}
