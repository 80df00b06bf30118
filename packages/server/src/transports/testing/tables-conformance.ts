/** What every driver with tables must do with events of any shape. Run it against a real destination, or a server that checks types. */
import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import type { JsonObject } from '@firsthand/core/json.ts';
import type { Dialect } from '@firsthand/core/tables/dialects.ts';
import { fitName, hash8 } from '@firsthand/core/tables/names.ts';
import type { TransportRecord } from '@firsthand/core/vendor/transport.ts';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { OpenTransport, Transport } from '../port.ts';
import { driverOptions } from './conformance.ts';

export interface TablesUnderTest {
  open: OpenTransport;
  /** Settings beside `layout`, `create_table`, `evolve` and the limits. */
  connection: Record<string, string>;
  dialect: Dialect;
  /** The rows of a table in any order. Timestamps as `toISOString`; null columns may be left out. */
  rows(table: string): Promise<Record<string, unknown>[]>;
  /** Whether an event that comes again in another batch is stored once. */
  exactlyOnce: boolean;
  /** Whether the destination updates the row of a user; otherwise there is one per event. */
  oneRowPerUser: boolean;
  /** Where a second writer ends the session of the first, they write one after the other, each with its own idea of the columns. */
  oneWriter?: true;
  /** Batches of events of any shape; each may change the table. */
  wildRuns?: number;
}

const limits = { timeout_ms: 60_000 };
let counter = 0;

export function trackRecord(id: string, event: string, properties: JsonObject, over: Partial<CanonicalEvent> = {}): TransportRecord {
  const canonical: CanonicalEvent = {
    event_id: id,
    type: 'track',
    event,
    anonymous_id: 'visitor',
    timestamp: '2026-01-01T00:00:00.000Z',
    context: { ip: '192.0.2.1', page: { url: 'https://example.com/' } },
    properties,
    ...over,
  };
  return {
    event_id: id,
    target: 'events',
    values: canonical as unknown as JsonObject /* an event without undefined values is JSON */,
    event: canonical,
    received_at: Date.UTC(2026, 0, 1, 0, 0, 1),
  };
}

export function describeTables(name: string, make: () => TablesUnderTest): void {
  const opened = (over: Record<string, string> = {}): Transport => {
    const { open, connection } = make();
    const transport = open({ layout: 'segment', create_table: 'true', ...connection, ...over }, driverOptions());
    onTestFinished(() => transport.close());
    return transport;
  };
  const column = (text: string) => fitName(text, make().dialect.columns);
  /** An event that no other test uses, and its table. */
  const fresh = () => {
    const event = `Thing ${process.pid}x${++counter}`;
    return { event, table: fitName(event.toLowerCase().replace(' ', '_'), make().dialect.tables) };
  };
  const byId = async (table: string) => {
    const rows = await make().rows(table);
    return new Map(rows.map((row) => [String(row[column('id')]), withoutNulls(row)]));
  };

  describe(`${name}: tables`, () => {
    test('the columns of Segment’s layout, typed', async () => {
      const { event, table } = fresh();
      const id = `seg-${table}`;
      expect(
        await opened().send(
          [trackRecord(id, event, { total: 42, paid: true, products: [{ sku: 'a' }], at: '2026-01-01T02:00:00+02:00' })],
          limits,
        ),
      ).toEqual({ kind: 'delivered' });
      expect((await byId(table)).get(id)).toEqual({
        [column('id')]: id,
        [column('received_at')]: '2026-01-01T00:00:01.000Z',
        [column('uuid_ts')]: '2026-01-01T00:00:01.000Z',
        [column('timestamp')]: '2026-01-01T00:00:00.000Z',
        [column('anonymous_id')]: 'visitor',
        [column('event')]: table.toLowerCase(),
        [column('event_text')]: event,
        [column('context_ip')]: '192.0.2.1',
        [column('context_page_url')]: 'https://example.com/',
        [column('total')]: 42,
        [column('paid')]: true,
        [column('products')]: '[{"sku":"a"}]',
        [column('at')]: '2026-01-01T00:00:00.000Z',
      });
      const tracks = await byId(fitName('tracks', make().dialect.tables));
      expect(tracks.get(id)).toMatchObject({ [column('event_text')]: event });
      expect(tracks.get(id)).not.toHaveProperty(column('total'));
    });

    test('a property that appears, disappears and changes its type', async () => {
      const { event, table } = fresh();
      const transport = opened();
      const steps: [string, JsonObject][] = [
        ['first', { a: 1 }],
        ['appears', { a: 1.5, b: 'x' }],
        ['disappears', { b: 'y' }],
        ['changes', { a: 'seven', b: 8 }],
        ['changes again', { a: true, b: { c: 1 } }],
      ];
      for (const [id, properties] of steps)
        expect(await transport.send([trackRecord(`${id}-${table}`, event, properties)], limits)).toEqual({ kind: 'delivered' });
      const rows = await byId(table);
      const found = steps.map(([id]) => pick(rows.get(`${id}-${table}`), ['a', 'b', 'a_text', 'b_text', 'b_c'].map(column)));
      expect(found).toEqual([
        { [column('a')]: 1 },
        { [column('a')]: 1.5, [column('b')]: 'x' },
        { [column('b')]: 'y' },
        { [column('a_text')]: 'seven', [column('b')]: '8' },
        { [column('a_text')]: 'true', [column('b_c')]: 1 },
      ]);
    });

    test('names: reserved, the event’s own, 300 characters, equal except for case', async () => {
      const { event, table } = fresh();
      const long = 'n'.repeat(299);
      const properties = {
        select: 1,
        xmin: 2,
        user_id: 'shop',
        [`${long}a`]: 3,
        [`${long}b`]: 4,
        Total: 5,
        total: 6,
        'größe "x"': 7,
        種類: 8,
      };
      expect(await opened().send([trackRecord(`n-${table}`, event, properties)], limits)).toEqual({ kind: 'delivered' });
      expect(await opened().send([trackRecord(`m-${table}`, event, { Total: 9 })], limits)).toEqual({ kind: 'delivered' });
      const rows = await byId(table);
      const expected = {
        select: 1,
        xmin: 2,
        _user_id: 'shop',
        [`${long}a`]: 3,
        [`${long}b`]: 4,
        total: 6,
        [`total_${hash8('properties.Total')}`]: 5,
        grosse_x_0: 7,
      };
      const { grosse_x_0: _, ...named } = expected;
      expect(rows.get(`n-${table}`)).toMatchObject(Object.fromEntries(Object.entries(named).map(([key, value]) => [column(key), value])));
      expect(Object.values(rows.get(`n-${table}`) ?? {})).toEqual(expect.arrayContaining([7, 8]));
      expect(rows.get(`m-${table}`)).toMatchObject({ [column('total')]: 9 });
      for (const key of Object.keys(rows.get(`n-${table}`) ?? {}))
        expect(Buffer.byteLength(key)).toBeLessThanOrEqual(make().dialect.columns.max);
    });

    test('above the column limit values go to the JSON column', async () => {
      const { event, table } = fresh();
      const properties = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, i]));
      expect(await opened({ max_columns: '30' }).send([trackRecord(`o-${table}`, event, properties)], limits)).toEqual({
        kind: 'delivered',
      });
      const row = (await byId(table)).get(`o-${table}`) ?? {};
      const overflow = row[column('_overflow')];
      const rest = (typeof overflow === 'string' ? JSON.parse(overflow) : overflow) as JsonObject;
      const inColumns = Object.keys(properties).filter((key) => row[column(key)] !== undefined);
      expect(inColumns.length).toBeGreaterThan(5);
      expect(inColumns.length + Object.keys(rest).length).toBe(40);
      expect(rest).toMatchObject({ p39: 39 });
    });

    test('above the table limit an event’s properties go to tracks', async () => {
      const { event, table } = fresh();
      await opened().send([trackRecord(`first-${table}`, event, {})], limits);
      const other = fresh();
      expect(await opened({ max_tables: '1' }).send([trackRecord(`t-${table}`, other.event, { total: 42 })], limits)).toEqual({
        kind: 'delivered',
      });
      const tracks = (await byId(fitName('tracks', make().dialect.tables))).get(`t-${table}`) ?? {};
      const overflow = tracks[column('_overflow')];
      expect(typeof overflow === 'string' ? JSON.parse(overflow) : overflow).toEqual({ total: 42 });
    });

    test('two processes that add columns at the same time', async () => {
      const { event, table } = fresh();
      const keys = ['left', 'right', 'up', 'down'];
      const transports = keys.map(() => opened());
      for (const transport of transports) await transport.send([trackRecord(`known-${table}`, event, {})], limits);
      const send = (key: string, index: number) =>
        transports[index]?.send([trackRecord(`${key}-${table}`, event, { [key]: 1, both: key })], limits);
      const verdicts = [];
      if (make().oneWriter) for (const [index, key] of keys.entries()) verdicts.push(await send(key, index));
      else verdicts.push(...(await Promise.all(keys.map(send))));
      for (const verdict of verdicts) expect(verdict).toEqual({ kind: 'delivered' });
      const rows = await byId(table);
      for (const key of ['left', 'right', 'up', 'down'])
        expect(rows.get(`${key}-${table}`)).toMatchObject({ [column(key)]: 1, [column('both')]: key });
    });

    test('a user’s newest traits', async () => {
      const user_id = `user-${process.pid}-${++counter}`;
      const identify = (id: string, traits: JsonObject, at: number): TransportRecord => ({
        ...trackRecord(`${id}-${user_id}`, '', {}, { type: 'identify', user_id, traits }),
        received_at: Date.UTC(2026, 0, 1, 0, 0, at),
      });
      const transport = opened();
      expect(
        await transport.send([identify('1', { email: 'a@example.com', plan: 'free' }, 1), identify('2', { plan: 'pro' }, 2)], limits),
      ).toEqual({ kind: 'delivered' });
      expect(await transport.send([identify('3', { plan: 'old' }, 0)], limits)).toEqual({ kind: 'delivered' });
      const users = (await make().rows(fitName('users', make().dialect.tables))).filter((row) => row[column('id')] === user_id);
      const newest = users.toSorted((a, b) => String(b[column('received_at')]).localeCompare(String(a[column('received_at')])))[0];
      expect(newest).toMatchObject({ [column('email')]: 'a@example.com', [column('plan')]: 'pro' });
      if (make().oneRowPerUser) expect(users).toHaveLength(1);
    });

    test('a repeat in a batch and in a later one', async () => {
      const { event, table } = fresh();
      const one = trackRecord(`r-${table}`, event, { total: 1 });
      expect(await opened().send([one, one], limits)).toEqual({ kind: 'delivered' });
      expect(await opened().send([one], limits)).toEqual({ kind: 'delivered' });
      if (make().exactlyOnce) expect(await make().rows(table)).toHaveLength(1);
      else expect(await byId(table)).toHaveLength(1);
    });

    test('events of any shape are stored', async () => {
      const { event, table } = fresh();
      const transport = opened({ max_columns: '200' });
      const properties = fc.dictionary(fc.string({ maxLength: 20, unit: 'binary' }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 6 });
      let sent = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(properties, { minLength: 1, maxLength: 5 }), async (list) => {
          const records = list.map((one) => trackRecord(`w${sent++}-${table}`, event, one as JsonObject));
          expect(await transport.send(records, limits)).toEqual({ kind: 'delivered' });
        }),
        { numRuns: make().wildRuns ?? 25 },
      );
      expect((await byId(table)).size).toBe(sent);
    });
  });
}

function withoutNulls(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));
}
function pick(row: Record<string, unknown> | undefined, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => names.includes(name)));
}
