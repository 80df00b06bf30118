// @module-tag redis-server
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRedis, type TestServer } from '../../test/servers/index.ts';
import { openRedis } from './redis.ts';
import { driverOptions, record } from './testing/conformance.ts';
import { testKills } from './testing/kills.ts';
import { describeStream } from './testing/streams.ts';

describe('Redis', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startRedis();
    await call('ACL', 'SETUSER', 'writer', 'on', '>right', '~*', '+@all');
  });
  afterAll(() => server.stop());

  async function call(...command: string[]): Promise<unknown> {
    const client = createClient({ url: server.url });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return await client.sendCommand(command);
    } finally {
      client.destroy();
    }
  }
  async function stored(target: string) {
    const entries = (await call('XRANGE', target, '-', '+')) as [string, string[]][];
    return entries.map(([, [, event_id = '', , data = '']]) => ({ event_id, values: JSON.parse(data) }));
  }
  let streams = 0;
  const connection = () => ({ url: server.url, deduplication_s: '3600' });

  describeStream('Redis', () => ({
    open: openRedis,
    server,
    connection: connection(),
    wrongCredentials: { ...connection(), username: 'writer', password: 'wrong' },
    nobody: { url: 'redis://127.0.0.1:1' },
    freshTarget: async () => `stream ${++streams}`,
    stored,
    once: true,
    survivesKill: true,
  }));

  testKills('Redis', async () => ({
    vendor: 'redis',
    config: { url: server.url, stream: 'killed' },
    count: async () => Number(await call('XLEN', 'killed')),
    eventIds: async () => (await stored('killed')).map(({ event_id }) => event_id),
    exactlyOnce: true,
  }));

  test('without a window repeats are added, and the length is bounded', async () => {
    const transport = openRedis({ url: server.url, deduplication_s: '0', max_length: '100' }, driverOptions());
    const records = Array.from({ length: 500 }, () => record('bounded', 1));
    expect(await transport.send(records, { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    const length = Number(await call('XLEN', 'bounded'));
    expect(length).toBeGreaterThan(1);
    expect(length).toBeLessThan(500);
    await transport.close();
  });

  test('a key that is no stream names its error, and leaves no mark: the corrected event arrives', async () => {
    await call('SET', 'taken', 'x');
    const transport = openRedis(connection(), driverOptions());
    const verdict = await transport.send([record('taken', 1)], { timeout_ms: 20_000 });
    expect(verdict).toMatchObject({ kind: 'partial', items: [{ kind: 'unavailable', reason: expect.stringContaining('WRONGTYPE') }] });
    await call('DEL', 'taken');
    expect(await transport.send([record('taken', 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    expect(await stored('taken')).toHaveLength(1);
    await transport.close();
  });

  test('a server that forgot the script gets it again', async () => {
    const transport = openRedis(connection(), driverOptions());
    expect(await transport.send([record('scripted', 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    await call('SCRIPT', 'FLUSH');
    expect(await transport.send([record('scripted', 2)], { timeout_ms: 20_000 })).toMatchObject({
      items: [{ kind: 'unavailable', reason: expect.stringContaining('NOSCRIPT') }],
    });
    expect(await transport.send([record('scripted', 2)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    await transport.close();
  });

  test('a server that became a replica is left for another connection', async () => {
    const transport = openRedis(connection(), driverOptions());
    expect(await transport.send([record('replicated', 1)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    const connections = async () => String(await call('INFO', 'stats')).match(/total_connections_received:(\d+)/)?.[1];
    await call('REPLICAOF', '127.0.0.1', '1');
    expect(await transport.send([record('replicated', 2)], { timeout_ms: 20_000 })).toMatchObject({
      items: [{ kind: 'unavailable', reason: expect.stringContaining('READONLY') }],
    });
    await call('REPLICAOF', 'NO', 'ONE');
    const before = Number(await connections());
    expect(await transport.send([record('replicated', 2)], { timeout_ms: 20_000 })).toEqual({ kind: 'delivered' });
    // One of the transport, one of the question itself.
    expect(Number(await connections()) - before).toBe(2);
    await transport.close();
  });
});
