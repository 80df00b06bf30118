import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { Json, JsonObject } from '../json.ts';
import type { TransportRecord } from '../vendor/transport.ts';
import { cleanJson, cleanText } from './columns.ts';
import {
  BIGQUERY,
  CLICKHOUSE,
  DATABRICKS,
  type Dialect,
  MYSQL,
  POSTGRESQL,
  REDSHIFT,
  readColumn,
  SNOWFLAKE,
  timestampText,
} from './dialects.ts';
import { type Layout, rowsOf } from './layouts.ts';
import { fitName, nameKey, snakeCase } from './names.ts';
import { baseColumns, cellOf, type Placed, schemaOf, TablePlacer } from './place.ts';

const DIALECTS: Record<string, Dialect> = { POSTGRESQL, REDSHIFT, MYSQL, CLICKHOUSE, BIGQUERY, SNOWFLAKE, DATABRICKS };

function recordOf(over: Partial<CanonicalEvent>, values?: JsonObject): TransportRecord {
  const event: CanonicalEvent = { event_id: 'e1', type: 'track', timestamp: '2026-01-01T00:00:00.000Z', context: {}, ...over };
  return {
    event_id: 'e1',
    target: 't',
    event,
    received_at: Date.UTC(2026, 0, 2),
    values: values ?? ({ ...event } as unknown as JsonObject) /* JSON without undefined values */,
  };
}
const shown = (record: TransportRecord, layout: Layout = 'segment') =>
  Object.fromEntries(
    rowsOf(record, layout, 't').map(({ table, id, fields }) => [
      table,
      { id, ...Object.fromEntries(fields.map(({ name, value }) => [name, value])) },
    ]),
  );

test.each([
  ['accountType', 'account_type'],
  ['Order Completed', 'order_completed'],
  ['lk0B@bFmjrLQ_Z6YL', 'lk0_b_b_fmjr_lq_z6yl'],
  ['samPLE text', 'sam_ple_text'],
  ['CStringRef', 'cstring_ref'],
  ['v2', 'v2'],
  ['5TEst', '5test'],
  ['___$$Base64Encode', 'base64_encode'],
  ['something.com', 'something_com'],
  ['Café Visited', 'cafe_visited'],
  ['購入', 'x_a78fd552'],
  ['', 'x_e3b0c442'],
])('snake case of %j is %j', (name, expected) => {
  expect(snakeCase(name)).toBe(expected);
});

describe('layouts', () => {
  const RECEIVED = '2026-01-02T00:00:00.000Z';
  const common = { id: 'e1', received_at: RECEIVED, uuid_ts: RECEIVED, timestamp: '2026-01-01T00:00:00.000Z' };

  test('a track event has a row in tracks and in its own table', () => {
    const record = recordOf({
      event: 'Order Completed',
      user_id: 'u',
      context: { page: { url: '/x' } },
      properties: { orderId: 'o', event: 'mine', nested: { a: { b: 1 } }, list: [1], none: null },
    });
    const named = { ...common, user_id: 'u', context_page_url: '/x', event: 'order_completed', event_text: 'Order Completed' };
    expect(shown(record)).toEqual({
      tracks: named,
      order_completed: { ...named, order_id: 'o', _event: 'mine', nested_a_b: 1, list: '[1]' },
    });
  });
  test('pages, screens, identifies and users, aliases, groups and accounts', () => {
    expect(shown(recordOf({ type: 'page', name: 'Home', properties: { name: 'Home', path: '/' } }))).toEqual({
      pages: { ...common, name: 'Home', path: '/' },
    });
    expect(Object.keys(shown(recordOf({ type: 'page', original_type: 'screen' })))).toEqual(['screens']);
    expect(shown(recordOf({ type: 'identify', user_id: 'u', traits: { plan: 'pro', id: 7 } }))).toEqual({
      identifies: { ...common, user_id: 'u', plan: 'pro', _id: 7 },
      users: { id: 'u', received_at: RECEIVED, uuid_ts: RECEIVED, plan: 'pro', _id: 7 },
    });
    expect(shown(recordOf({ type: 'identify', traits: { plan: 'pro' } }))).not.toHaveProperty('users');
    expect(shown(recordOf({ type: 'identify', original_type: 'alias', user_id: 'u', context: { previous_id: 'p' } }))).toMatchObject({
      aliases: { previous_id: 'p', user_id: 'u' },
    });
    expect(shown(recordOf({ type: 'group', group_id: 'g', traits: { plan: 'pro' } }))).toMatchObject({
      groups: { group_id: 'g', plan: 'pro' },
      accounts: { id: 'g', plan: 'pro' },
    });
  });
  test('an event cannot write to a table of the layout', () => {
    expect(Object.keys(shown(recordOf({ event: 'Users', properties: { id: 1 } })))).toEqual(['tracks', '_users']);
  });
  test('a mapping decides what a row holds', () => {
    const record = recordOf({ event: 'Order', user_id: 'secret', properties: { card: '4111' } }, { properties: { total: 1 }, shop: 'x' });
    const { order } = shown(record);
    expect(order).toEqual({ ...common, event: 'order', event_text: 'Order', total: 1, shop: 'x' });
  });
  test('one table with columns, and one with the payload', () => {
    const record = recordOf({ event: 'Order', properties: { total: 1, list: [1] }, context: { ip: '::1' } });
    const own = { id: 'e1', type: 'track', event: 'Order', timestamp: common.timestamp };
    expect(shown(record, 'events')).toEqual({
      t: { ...own, received_at: RECEIVED, properties_total: 1, properties_list: [1], context_ip: '::1' },
    });
    expect(shown(record, 'payload')).toEqual({ t: { ...own, properties: { total: 1, list: [1] }, context: { ip: '::1' } } });
  });
});

describe.each(Object.entries(DIALECTS))('%s', (_name, dialect) => {
  test('any name fits, and long names stay different', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 700 }), (name) => {
        for (const rules of [dialect.columns, dialect.tables]) {
          const fitted = fitName(name, rules);
          expect(fitted.length).toBeGreaterThan(0);
          expect(fitted.isWellFormed()).toBe(true);
          expect(rules.unit === 'bytes' ? new TextEncoder().encode(fitted).length : fitted.length).toBeLessThanOrEqual(rules.max);
        }
      }),
    );
    const long = 'x'.repeat(2_000);
    expect(fitName(`${long}a`, dialect.columns)).not.toBe(fitName(`${long}b`, dialect.columns));
  });

  test('its own types are read back as what they were made for', () => {
    for (const type of ['boolean', 'number', 'timestamp', 'text'] as const)
      expect(readColumn('c', dialect.types[type], dialect)).toMatchObject({ type });
    expect(['json', 'text']).toContain(readColumn('c', dialect.types.json, dialect).type);
  });

  test('no value is lost, whatever the columns are', () => {
    const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
    const properties = fc.dictionary(fc.constantFrom('a', 'A', 'b', 'a_text', 'id', '_overflow', 'x'.repeat(400), 'a b', 'a_b'), value);
    fc.assert(
      fc.property(fc.array(properties, { minLength: 1, maxLength: 4 }), fc.integer({ min: 9, max: 30 }), (list, max_columns) => {
        const rows = list.flatMap((one, i) => rowsOf({ ...recordOf({ properties: one as JsonObject }), event_id: `e${i}` }, 'events', 't'));
        const kind = rows[0]!.kind;
        const base = schemaOf(baseColumns(kind, dialect), dialect);
        const first = place(rows, base);
        const grown = schemaOf([...base.values(), ...first.add.map(({ name, sql }) => readColumn(name, sql, dialect))], dialect);
        const again = place(rows, grown);
        expect(again.add).toEqual([]);
        expect(grown.size).toBeLessThanOrEqual(Math.max(max_columns, base.size + 1));
        for (const [i, row] of rows.entries()) {
          const overflowAt = again.columns.findIndex(
            ({ name }) => nameKey(name, dialect.columns) === nameKey(fitName('_overflow', dialect.columns), dialect.columns),
          );
          const rest = overflowAt < 0 ? undefined : again.rows[i]?.[overflowAt];
          const overflow = typeof rest === 'string' ? Object.keys(JSON.parse(rest) as JsonObject).length : 0;
          const cells = again.rows[i]!.filter((cell) => cell !== undefined).length - 1 - (rest === undefined ? 0 : 1);
          expect(cells + overflow).toBe(row.fields.length);
        }
        function place(some: typeof rows, schema: typeof base): Placed {
          const placer = new TablePlacer(schema, kind, { dialect, max_columns, evolve: true });
          for (const row of some) placer.add(row);
          return placer.placed;
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('cells', () => {
  const column = (type: Parameters<typeof cellOf>[1]['type'], max?: number) => ({
    name: 'c',
    type,
    sql: '',
    ...(max === undefined ? {} : { max }),
  });
  test.each([
    [42, column('number'), 42],
    [42, column('text'), '42'],
    [42.5, column('integer'), undefined],
    [40_000, column('integer', 32_767), undefined],
    ['42', column('number'), undefined],
    ['true', column('boolean'), undefined],
    ['2026-01-01T02:00:00+02:00', column('timestamp'), '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T02:00:00', column('timestamp'), undefined],
    ['2026-01-01', column('timestamp'), undefined],
    ['abcdef', column('text', 5), undefined],
    [{ a: 'x\0' }, column('json'), '{"a":"x\\ufffd"}'],
    [[1], column('text'), '[1]'],
  ])('%j in a column %j is %j', (value, into, expected) => {
    expect(cellOf(value, into, POSTGRESQL)).toBe(expected);
  });
  test('a text beyond the limit of the destination is cut between characters', () => {
    const cut = cellOf('é'.repeat(65_535), column('text'), REDSHIFT) as string;
    expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(65_535);
    expect(cut.length).toBeGreaterThan(32_700);
  });
  test('instants outside of a destination’s range are texts', () => {
    expect(cellOf('2400-01-01T00:00:00Z', column('timestamp'), CLICKHOUSE)).toBeUndefined();
    expect(timestampText(0, MYSQL)).toBe('1970-01-01 00:00:00.000');
  });
  test('what no database stores is replaced', () => {
    expect(cleanText('a\0b\ud800')).toBe('a\ufffdb\ufffd');
    expect(cleanJson({ a: '\ud800', b: '\\u0000', c: '😀' })).toBe('{"a":"\\ufffd","b":"\\\\u0000","c":"😀"}');
  });
});
