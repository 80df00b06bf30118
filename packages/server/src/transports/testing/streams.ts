/** What every driver of a broker, stream or queue must do. Run it against a real server that the suite may kill. */
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TestServer } from '../../../test/servers/index.ts';
import type { OpenTransport, Transport } from '../port.ts';
import { driverOptions, record } from './conformance.ts';

export interface StreamUnderTest {
  open: OpenTransport;
  server: TestServer;
  connection: Record<string, string>;
  /** The same server with credentials that it does not know. */
  wrongCredentials: Record<string, string>;
  /** Settings with which nothing listens. */
  nobody: Record<string, string>;
  /** An empty target with one partition. */
  freshTarget(): Promise<string>;
  /** What the target holds, in its order. */
  stored(target: string): Promise<{ event_id: string; values: unknown }[]>;
  /** The destination drops an event id that comes again. */
  once: boolean;
  /** False for servers that keep acknowledged messages in memory: they are stopped in the orderly way instead. */
  survivesKill: boolean;
  /** Events of a batch. Default 500. */
  size?: number;
  /** Bytes of an event that the destination refuses. Default 2,000,000. */
  tooLarge?: number;
  /** Servers of our own: what happens to the next request. */
  failNext?(fault: 'throttle' | 'partial' | 'cut' | 'lost'): void;
  /** The destination may store a part of a request. */
  partial?: boolean;
}

const limits = { timeout_ms: 20_000 };
const batch = (target: string, from: number, count: number): TransportRecord[] =>
  Array.from({ length: count }, (_, i) => record(target, from + i, { event: 'Order', total: from + i }));

export function describeStream(name: string, make: () => StreamUnderTest): void {
  const opened = (connection = make().connection, options = driverOptions()): Transport => {
    const transport = make().open(connection, options);
    onTestFinished(() => transport.close());
    return transport;
  };
  const idsIn = async (target: string) => (await make().stored(target)).map(({ event_id }) => event_id);

  describe(`${name}: the stream`, () => {
    test('batches are stored whole and in order', async () => {
      const target = await make().freshTarget();
      const transport = opened();
      const size = make().size ?? 500;
      for (const turn of [0, 1, 2]) expect(await transport.send(batch(target, turn * size, size), limits)).toEqual({ kind: 'delivered' });
      const stored = await make().stored(target);
      expect(stored.map(({ event_id }) => event_id)).toEqual(Array.from({ length: 3 * size }, (_, i) => `e${i}`));
      expect(stored[7]?.values).toEqual({ event: 'Order', total: 7 });
    });

    test('a record that comes again is stored once where the destination can tell', async () => {
      const target = await make().freshTarget();
      const transport = opened();
      for (let i = 0; i < 2; i++) expect(await transport.send(batch(target, 0, 20), limits)).toEqual({ kind: 'delivered' });
      // Another process that knows nothing of the first.
      expect(await opened().send(batch(target, 0, 20), limits)).toEqual({ kind: 'delivered' });
      const ids = await idsIn(target);
      expect(new Set(ids).size).toBe(20);
      expect(ids.length).toBe(make().once ? 20 : 60);
    });

    test('a record that is too large is refused alone, and the others arrive', async () => {
      const target = await make().freshTarget();
      const transport = opened();
      const bad = record(target, 'bad', { event: 'x'.repeat(make().tooLarge ?? 2_000_000) });
      const first = await transport.send([record(target, 1), bad, record(target, 2)], limits);
      const left = unsettled([record(target, 1), bad, record(target, 2)], first);
      for (const one of left) {
        const expected = one.event_id === 'ebad' ? 'refused' : 'delivered';
        expect(await settled(transport, one)).toBe(expected);
      }
      expect(new Set(await idsIn(target))).toEqual(new Set(['e1', 'e2']));
    });

    test('any text and any JSON is stored', async () => {
      const target = await make().freshTarget();
      const values = { event: 'NUL \u0000, quote \' " ; -- \\ \r\n, 日本', nested: { list: [1, null, true] } };
      expect(await opened().send([record(target, 'ü / 1', values)], limits)).toEqual({ kind: 'delivered' });
      expect(await make().stored(target)).toEqual([{ event_id: 'eü / 1', values }]);
    });

    test('an unreachable destination is unavailable, within the timeout', async () => {
      expect(await opened(make().nobody).send([record('target', 1)], { timeout_ms: 5_000 })).toMatchObject({ kind: 'unavailable' });
    });

    test('a private address is refused where integrations may not reach it', async () => {
      const verdict = await opened(make().connection, driverOptions(false)).send([record('target', 1)], limits);
      expect(verdict).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/not (?:a )?public/) });
    });

    test('wrong credentials are unavailable, and corrected ones deliver', async () => {
      const target = await make().freshTarget();
      expect(await opened(make().wrongCredentials).send([record(target, 1)], limits)).toMatchObject({ kind: 'unavailable' });
      expect(await opened().send([record(target, 1)], limits)).toEqual({ kind: 'delivered' });
      expect(await idsIn(target)).toEqual(['e1']);
    });

    test('a server that stops answering in the middle of a batch loses nothing', async () => {
      const target = await make().freshTarget();
      const transport = opened();
      expect(await transport.send(batch(target, 0, 10), limits)).toEqual({ kind: 'delivered' });
      make().server.pause();
      const verdict = await transport.send(batch(target, 10, 10), { timeout_ms: make().failNext ? 300 : 1_000 });
      make().server.resume();
      expect(unsettled(batch(target, 10, 10), verdict)).toHaveLength(10);
      await deliver(transport, batch(target, 10, 10));
      expectAll(await idsIn(target), 20, make().once);
    });

    test('a server that is killed in the middle of a batch loses nothing', async () => {
      const { server, survivesKill, size = 500 } = make();
      const target = await make().freshTarget();
      const transport = opened();
      expect(await transport.send(batch(target, 0, size), limits)).toEqual({ kind: 'delivered' });
      const sending = deliver(transport, batch(target, size, size));
      if (survivesKill) await server.kill();
      await server.restart();
      await sending;
      await deliver(transport, batch(target, 2 * size, 10));
      expectAll(await idsIn(target), 2 * size + 10, make().once);
    });

    test('throttling is unavailable, and the same batch is delivered later', async ({ skip }) => {
      const { failNext } = make();
      if (!failNext) return skip('a real server cannot be told to');
      const target = await make().freshTarget();
      const transport = opened();
      failNext('throttle');
      expect(await transport.send(batch(target, 0, 10), limits)).toMatchObject({ kind: 'unavailable' });
      expect(await idsIn(target)).toEqual([]);
      expect(await transport.send(batch(target, 0, 10), limits)).toEqual({ kind: 'delivered' });
      expect(await idsIn(target)).toHaveLength(10);
    });

    test('of a request that is stored in part, only the rest is sent again', async ({ skip }) => {
      const { failNext, partial } = make();
      if (!failNext || !partial) return skip('a request is stored whole or not at all');
      const target = await make().freshTarget();
      const transport = opened();
      failNext('partial');
      const verdict = await transport.send(batch(target, 0, 4), limits);
      expect(verdict).toMatchObject({
        kind: 'partial',
        items: ['delivered', 'unavailable', 'delivered', 'unavailable'].map((kind) => ({ kind })),
      });
      await deliver(transport, unsettled(batch(target, 0, 4), verdict));
      expect((await idsIn(target)).sort()).toEqual(['e0', 'e1', 'e2', 'e3']);
    });

    test.for(['cut', 'lost'] as const)('a connection that is lost before the batch is stored, or after: %s', async (fault, { skip }) => {
      const { failNext } = make();
      if (!failNext) return skip('a real server cannot be told to');
      const target = await make().freshTarget();
      const transport = opened();
      failNext(fault);
      const verdict = await transport.send(batch(target, 0, 10), limits);
      expect(unsettled(batch(target, 0, 10), verdict).length).toBeGreaterThan(0);
      await deliver(transport, unsettled(batch(target, 0, 10), verdict));
      expectAll(await idsIn(target), 10, make().once || fault === 'cut');
    });
  });
}

function unsettled(records: TransportRecord[], verdict: Awaited<ReturnType<Transport['send']>>): TransportRecord[] {
  if (verdict.kind === 'delivered') return [];
  return verdict.kind === 'partial' ? records.filter((_, i) => verdict.items[i]?.kind !== 'delivered') : records;
}

/** Sends what is not delivered again and again, as the role does. */
async function deliver(transport: Transport, records: TransportRecord[]): Promise<void> {
  let left = records;
  await expect
    .poll(
      async () => {
        left = unsettled(left, await transport.send(left, { timeout_ms: 5_000 }));
        return left.length;
      },
      { timeout: 60_000, interval: 200 },
    )
    .toBe(0);
}

async function settled(transport: Transport, one: TransportRecord): Promise<string> {
  let kind = '';
  await expect
    .poll(
      async () => {
        const verdict = await transport.send([one], limits);
        kind = verdict.kind === 'partial' ? (verdict.items[0]?.kind ?? '') : verdict.kind;
        return kind;
      },
      { timeout: 30_000, interval: 100 },
    )
    .not.toBe('unavailable');
  return kind;
}

function expectAll(ids: string[], count: number, once: boolean): void {
  const missing = Array.from({ length: count }, (_, i) => `e${i}`).filter((id) => !ids.includes(id));
  expect(missing).toEqual([]);
  if (once) expect(ids).toHaveLength(count);
}
