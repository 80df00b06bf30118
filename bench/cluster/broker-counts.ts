import { connect, type NatsConnection } from '@nats-io/transport-node';

/** What the broker has stored and answered since it started. */
export interface BrokerCounts {
  /** By kind of stream: shards of one family are added up. */
  streams: Record<string, { messages: number; bytes: number }>;
  apiRequests: number;
}
interface StreamList {
  streams: { config: { name: string }; state: { last_seq: number; bytes: number } }[];
  total: number;
}

/** Reads counters through the JetStream API, so that no monitoring port is needed. */
export async function openBroker(url: string): Promise<{ counts(): Promise<BrokerCounts>; close(): Promise<void> }> {
  const connection = await connect({ servers: url.split(',') });
  return { counts: () => read(connection), close: () => connection.close() };
}

async function read(connection: NatsConnection): Promise<BrokerCounts> {
  const call = async <T>(subject: string, body: object = {}) =>
    (await connection.request(`$JS.API.${subject}`, JSON.stringify(body), { timeout: 10_000 })).json<T>();
  const streams: BrokerCounts['streams'] = {};
  for (let offset = 0, total = 1; offset < total; ) {
    const page = await call<StreamList>('STREAM.LIST', { offset });
    for (const { config, state } of page.streams) {
      const counted = (streams[kindOf(config.name)] ??= { messages: 0, bytes: 0 });
      counted.messages += state.last_seq;
      counted.bytes += state.bytes;
    }
    total = page.total;
    offset += Math.max(1, page.streams.length);
  }
  const { api } = await call<{ api: { total: number } }>('INFO');
  return { streams, apiRequests: api.total };
}

function kindOf(stream: string): string {
  return stream.replace(/_\d+$/, '').replace(/^firsthand[_-]/, '');
}

/** Messages stored by kind of stream, and API requests, per event. */
export function perEvent(before: BrokerCounts, after: BrokerCounts, events: number): Record<string, number> {
  const stored = Object.entries(after.streams).map(([kind, { messages }]): [string, number] => [
    `${kind} messages`,
    (messages - (before.streams[kind]?.messages ?? 0)) / events,
  ]);
  return {
    ...Object.fromEntries(stored.filter(([, each]) => each > 0)),
    'API requests': (after.apiRequests - before.apiRequests) / events,
  };
}
