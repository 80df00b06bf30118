import { type ConnectionOptions, connect, type NatsConnection } from '@nats-io/transport-node';

/** Waits until a server is reachable, then reconnects forever. `url` may list several servers, separated by commas. */
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
    // A frozen server keeps its connections open. Two unanswered pings close this one.
    pingInterval: 1_500,
    maxPingOut: 2,
    timeout: 2_000,
    ...login,
  });
}
