/** What every driver must do. Run it against a real destination. */
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGuardedClient } from '../../outbound/guarded-client.ts';
import { createResolver, guardedLookup } from '../../outbound/resolver.ts';
import { createTokenCache } from '../../outbound/tokens.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { DriverOptions, OpenTransport, Transport } from '../port.ts';

export interface DriverUnderTest {
  open: OpenTransport;
  connection(): Record<string, string>;
  /** Settings with which nothing listens. */
  nobody: Record<string, string>;
  /** Makes an empty target for records with the values `{event, total}` and returns its name. */
  freshTarget(): Promise<string>;
  /** What the destination holds, by event id. */
  stored(target: string): Promise<Map<string, unknown>>;
  /** Values that the destination refuses for good. */
  badValues: TransportRecord['values'];
}

export function driverOptions(allowPrivateDestinations = true): DriverOptions {
  const lookup = guardedLookup(createResolver({ now: () => systemClock.monotonic() }), allowPrivateDestinations);
  const client = createGuardedClient({ allowPrivateDestinations, clock: systemClock });
  const rotated = { newest: () => Promise.resolve(undefined), keep: () => Promise.resolve() };
  const tokens = createTokenCache({ client, clock: systemClock, rotated, logger: { warn: () => undefined } });
  return { lookup, allowPrivateDestinations, http: { client, tokens, clock: systemClock } };
}
/** A record as delivery makes it. */
export const record = (
  target: string,
  id: number | string,
  values: TransportRecord['values'] = { event: 'Order', total: 42 },
): TransportRecord => ({
  event_id: `e${id}`,
  target,
  values,
  event: { event_id: `e${id}`, type: 'track', event: 'Order', timestamp: '2026-01-01T00:00:00.000Z', context: {} },
  received_at: Date.UTC(2026, 0, 1),
});

export function describeTransport(name: string, make: () => DriverUnderTest): void {
  const opened = (connection = make().connection(), options = driverOptions()): Transport => {
    const transport = make().open(connection, options);
    onTestFinished(() => transport.close());
    return transport;
  };
  const limits = { timeout_ms: 20_000 };

  describe(`${name}: the transport`, () => {
    test('a batch is stored whole', async () => {
      const target = await make().freshTarget();
      const records = Array.from({ length: 2_000 }, (_, i) => record(target, i));
      expect(await opened().send(records, limits)).toEqual({ kind: 'delivered' });
      expect([...(await make().stored(target)).keys()].sort()).toEqual(records.map(({ event_id }) => event_id).sort());
    });

    test('a record that comes again replaces the first one, in one batch and in two', async () => {
      const target = await make().freshTarget();
      const transport = opened();
      await transport.send([record(target, 1), record(target, 1, { event: 'Second', total: 2 })], limits);
      await transport.send([record(target, 1, { event: 'Third', total: 3 }), record(target, 2)], limits);
      const stored = await make().stored(target);
      expect(stored.size).toBe(2);
      expect(JSON.stringify(stored.get('e1'))).toContain('Third');
    });

    test('one bad record does not stop the others: it is refused when it is sent alone', async () => {
      const target = await make().freshTarget();
      const transport = opened();
      const bad = record(target, 'bad', make().badValues);
      expect(await transport.send([record(target, 1), bad], limits)).toMatchObject({ kind: 'unavailable', isolate: true });
      expect(await transport.send([record(target, 1)], limits)).toEqual({ kind: 'delivered' });
      expect(await transport.send([bad], limits)).toMatchObject({ kind: 'refused' });
    });

    test('any text and any JSON is stored or refused, and breaks nothing', async () => {
      const target = await make().freshTarget();
      const event = 'NUL \u0000, half \ud800, quote \' " ; drop table x; -- \\';
      expect(await opened().send([record(target, 1, { event, total: 1 })], limits)).toEqual({ kind: 'delivered' });
      expect((await make().stored(target)).size).toBe(1);
    });

    test('an unreachable destination is unavailable, within the timeout', async () => {
      const verdict = await opened(make().nobody).send([record('t', 1)], { timeout_ms: 5_000 });
      expect(verdict).toMatchObject({ kind: 'unavailable' });
    });

    test('a private address is refused where integrations may not reach it', async () => {
      const verdict = await opened(make().connection(), driverOptions(false)).send([record('t', 1)], limits);
      expect(verdict).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/not (?:a )?public/) });
    });
  });
}
