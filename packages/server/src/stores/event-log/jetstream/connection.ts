import { readFileSync } from 'node:fs';
import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';

/** Paths are read again at every reconnect, so that renewed credentials and certificates apply without a restart. */
export interface NatsSecurity {
  /** A credentials file of an account (user JWT and seed). */
  credentialsFile?: string | undefined;
  /** A file with the seed of an nkey. */
  nkeyFile?: string | undefined;
  caFile?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
}

/** Waits until a server is reachable, unless `waits` is false, then reconnects forever. `url` may list several servers, separated by commas. */
export function connectNats(
  url: string,
  { name = 'firsthand', waits = true, ...security }: { name?: string; waits?: boolean } & NatsSecurity = {},
): Promise<NatsConnection> {
  const servers = url.split(',').map((part) => new URL(part.trim()));
  return connect({
    servers: servers.map((server) => server.host),
    name,
    maxReconnectAttempts: -1,
    waitOnFirstConnect: waits,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    // A frozen server keeps its connections open. Two unanswered pings close this one.
    pingInterval: 1_500,
    maxPingOut: 2,
    timeout: 2_000,
    // Else every request captures two stack traces, a third of its cost. Our errors name the operation.
    noAsyncTraces: true,
    ...login(servers[0], security),
    ...encryption(servers, security),
  });
}

function login(first: URL | undefined, { credentialsFile, nkeyFile }: NatsSecurity): ConnectionOptions {
  if (credentialsFile !== undefined) return { authenticator: credsAuthenticator(() => readFileSync(credentialsFile)) };
  if (nkeyFile !== undefined) return { authenticator: nkeyAuthenticator(() => Buffer.from(readFileSync(nkeyFile, 'utf8').trim())) };
  if (!first) return {};
  const [user, pass] = [decodeURIComponent(first.username), decodeURIComponent(first.password)];
  if (pass !== '') return { user, pass };
  return user === '' ? {} : { token: user };
}

function encryption(servers: URL[], { caFile, certFile, keyFile }: NatsSecurity): ConnectionOptions {
  const files = { ...(caFile && { caFile }), ...(certFile && { certFile }), ...(keyFile && { keyFile }) };
  const wanted = Object.keys(files).length > 0 || servers.some(({ protocol }) => protocol === 'tls:');
  return wanted ? { tls: files } : {};
}

const DEFAULT_MAX_PAYLOAD = 1_048_576;

/** The largest message that the broker takes, headers included. */
export function maxPayloadOf(connection: NatsConnection): number {
  return connection.info?.max_payload ?? DEFAULT_MAX_PAYLOAD;
}
