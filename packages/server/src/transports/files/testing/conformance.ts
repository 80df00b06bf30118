/** What every file target must do. Run it against a real server, or a local one that checks what the service checks. */
import { gunzipSync } from 'node:zlib';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OpenTransport, Transport } from '../../port.ts';
import { driverOptions } from '../../testing/conformance.ts';

export interface FileTargetUnderTest {
  open: OpenTransport;
  connection(): Record<string, string>;
  wrongCredentials(): Record<string, string>;
  /** Settings with which nothing listens. */
  nobody: Record<string, string>;
  /** Every complete object by its key. */
  objects(): Promise<Map<string, Buffer>>;
  /** How the connection of the next write can break: before, or after the object was stored. */
  breaks: readonly ('cut' | 'lost')[];
  breakNext(when: 'cut' | 'lost'): void;
  /** The service asks for fewer requests at the next write. Absent where the protocol has no such answer. */
  throttleNext?(): void;
  stop(): Promise<void>;
  resume(): Promise<void>;
}

let folders = 0;
const limits = { timeout_ms: 20_000 };

export function fileRecord(target: string, id: number | string, more: Record<string, unknown> = {}): TransportRecord {
  const event = {
    event_id: `e${id}`,
    type: 'track' as const,
    event: 'Order',
    timestamp: '2026-01-01T00:00:00.000Z',
    context: {},
    properties: { total: 42, ...more } as TransportRecord['values'],
  };
  return { event_id: event.event_id, target, values: event, event, received_at: 0, json: JSON.stringify(event) };
}

/** The event ids of an NDJSON file. */
export function idsIn(file: Buffer): string[] {
  const lines = file.toString().trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { event_id: string }).event_id);
}

export function describeFileTarget(name: string, make: () => FileTargetUnderTest): void {
  const opened = (connection: Record<string, string> = {}, options = driverOptions()): Transport => {
    const transport = make().open({ ...make().connection(), format: 'ndjson', ...connection }, options);
    onTestFinished(() => transport.close());
    return transport;
  };
  const freshFolder = () => `run/${++folders}/`;
  const inFolder = async (folder: string) => [...(await make().objects())].filter(([key]) => key.startsWith(folder));
  const eventIds = async (folder: string) => (await inFolder(folder)).flatMap(([, bytes]) => idsIn(bytes));
  const some = (folder: string, count = 3, from = 0) => Array.from({ length: count }, (_, i) => fileRecord(folder, from + i));

  describe(`${name}: the file target`, () => {
    test('a batch is one object with its rows in order, named by its content', async () => {
      const folder = freshFolder();
      expect(await opened().send(some(folder, 2_000), limits)).toEqual({ kind: 'delivered' });
      expect(await eventIds(folder)).toEqual(some(folder, 2_000).map(({ event_id }) => event_id));
      expect((await inFolder(folder))[0]?.[0].slice(folder.length)).toMatch(/^[0-9a-f]{64}\.ndjson$/);
    });

    test('the same batch again stores nothing, from another process too; other rows are another object', async () => {
      const folder = freshFolder();
      const transport = opened();
      expect(await transport.send(some(folder), limits)).toEqual({ kind: 'delivered' });
      expect(await transport.send(some(folder), limits)).toEqual({ kind: 'delivered', note: 'already stored' });
      expect(await opened().send(some(folder), limits)).toEqual({ kind: 'delivered', note: 'already stored' });
      expect(await transport.send(some(folder, 1, 9), limits)).toEqual({ kind: 'delivered' });
      expect((await eventIds(folder)).sort()).toEqual(['e0', 'e1', 'e2', 'e9']);
    });

    test.each([
      'cut',
      'lost',
    ] as const)('connection %s in the middle of a write: no part of an object, and one object in the end', async (when) => {
      const folder = freshFolder();
      const transport = opened();
      await transport.send(some(freshFolder(), 1), limits);
      make().breakNext(when);
      const large = some(folder, 5_000);
      expect(await transport.send(large, limits)).toMatchObject({ kind: 'unavailable' });
      for (const ids of [await eventIds(folder)]) expect([0, 5_000]).toContain(ids.length);
      expect(await transport.send(large, limits)).toMatchObject({ kind: 'delivered' });
      expect(await eventIds(folder)).toHaveLength(5_000);
      expect(await inFolder(folder)).toHaveLength(1);
    });

    test('throttling is unavailable with the wait that the service asks for', async ({ skip }) => {
      const { throttleNext } = make();
      if (!throttleNext) return skip('this protocol does not throttle');
      const folder = freshFolder();
      const transport = opened();
      throttleNext();
      expect(await transport.send(some(folder), limits)).toMatchObject({ kind: 'unavailable', retry_after_ms: 7_000 });
      expect(await inFolder(folder)).toEqual([]);
      expect(await transport.send(some(folder), limits)).toEqual({ kind: 'delivered' });
    });

    test('wrong credentials are worth a retry, and corrected ones deliver', async () => {
      const folder = freshFolder();
      expect(await opened(make().wrongCredentials()).send(some(folder), limits)).toMatchObject({ kind: 'unavailable' });
      expect(await inFolder(folder)).toEqual([]);
      expect(await opened().send(some(folder), limits)).toEqual({ kind: 'delivered' });
    });

    test('a server that restarts is used again', async () => {
      const folder = freshFolder();
      const transport = opened();
      expect(await transport.send(some(folder), limits)).toEqual({ kind: 'delivered' });
      await make().stop();
      const meanwhile = await transport.send(some(folder, 1, 7), { timeout_ms: 5_000 });
      await make().resume();
      expect(meanwhile).toMatchObject({ kind: 'unavailable' });
      expect(await transport.send(some(folder, 1, 7), limits)).toEqual({ kind: 'delivered' });
      expect((await eventIds(folder)).sort()).toEqual(['e0', 'e1', 'e2', 'e7']);
    });

    test.each(['ndjson', 'csv', 'parquet'])('no text and no JSON spoils a %s file', async (format) => {
      const folder = freshFolder();
      const strange = {
        text: 'NUL \u0000, half \ud800, quote " \' , \r\n',
        list: [1, [null]],
        constructor: {},
        big: 1e300,
        deep: { a: { b: [] } },
      };
      const records = [fileRecord(folder, 1, strange), fileRecord(folder, 2, { text: 5 }), fileRecord(folder, 3, { text: [true] })];
      for (const flatten of ['true', 'false'])
        expect(await opened({ format, flatten }).send(records, limits)).toEqual({ kind: 'delivered' });
      expect(await inFolder(folder)).toHaveLength(2);
    });

    test('a compressed file has the ending of its compression', async () => {
      const folder = freshFolder();
      await opened({ compression: 'gzip' }).send(some(folder), limits);
      const [[key, bytes] = ['', Buffer.alloc(0)]] = await inFolder(folder);
      expect(key).toMatch(/\.ndjson\.gz$/);
      expect(gunzipSync(bytes).toString().trim().split('\n')).toHaveLength(3);
    });

    test('a manifest names the object, its size and its rows', async () => {
      const folder = freshFolder();
      const transport = opened({ manifest: 'true' });
      for (let i = 0; i < 2; i++) expect(await transport.send(some(folder), limits)).toMatchObject({ kind: 'delivered' });
      const found = new Map(await inFolder(folder));
      const [data = '', manifest = ''] = [...found.keys()].sort((a) => (a.includes('_manifest') ? 1 : -1));
      const { entries } = JSON.parse(found.get(manifest)?.toString() ?? '') as { entries: { url: string; meta: unknown }[] };
      expect(found.size).toBe(2);
      expect(entries).toEqual([
        { url: expect.stringContaining(data), mandatory: true, meta: { content_length: found.get(data)?.length, record_count: 3 } },
      ]);
    });

    test('an unreachable server is unavailable, within the timeout', async () => {
      expect(await opened(make().nobody).send(some(freshFolder()), { timeout_ms: 5_000 })).toMatchObject({ kind: 'unavailable' });
    });

    test('a private address is refused where integrations may not reach it', async () => {
      const verdict = await opened({}, driverOptions(false)).send(some(freshFolder()), limits);
      expect(verdict).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/not (a )?public/) });
    });
  });
}
