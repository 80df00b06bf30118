import { type ConnectionOptions, connect, type NatsConnection } from '@nats-io/transport-node';

/** Connects, waiting for a server that is not there yet, and stays connected for good. `url` may name several servers, by comma. */
export function connectNats(url: string, options: { name?: string } = {}): Promise<NatsConnection> {
  const servers = url.split(',').map((part) => new URL(part.trim()));
  const first = servers[0]!;
  const login: ConnectionOptions = {};
  if (first.password !== '') {
    login.user = decodeURIComponent(first.username);
    login.pass = decodeURIComponent(first.password);
  } else if (first.username !== '') login.token = decodeURIComponent(first.username);
  if (first.protocol === 'tls:') login.tls = {};
  return connect({
    servers: servers.map((server) => server.host),
    name: options.name ?? 'firsthand',
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    // A server that is frozen keeps its connections: two pings without an answer end this one.
    pingInterval: 1_500,
    maxPingOut: 2,
    timeout: 2_000,
    ...login,
  });
}
