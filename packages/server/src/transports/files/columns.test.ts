import type { JsonObject } from '@firsthand/core/json.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columnsOf } from './columns.ts';
import { toCsv } from './csv.ts';

const event = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  event_id: 'e1',
  type: 'track',
  timestamp: '2026-01-01T00:00:00.000Z',
  context: {},
  properties,
  ...more,
});
/** Name, type and values of the columns that begin with `properties`. */
function own(rows: JsonObject[], flatten: boolean) {
  return columnsOf(rows, flatten)
    .filter(({ name }) => name.startsWith('properties'))
    .map(({ name, type, values }) => [name, type, ...values]);
}

describe('what happens to a property of an event', () => {
  const long = 'p'.repeat(300);
  // The table in docs/reference/data-stores.md.
  test.each<[string, JsonObject[], unknown[][]]>([
    ['appears', [{}, { total: 1 }], [['properties_total', 'integer', null, 1]]],
    ['disappears', [{ total: 1 }, {}], [['properties_total', 'integer', 1, null]]],
    ['is null', [{ total: 1 }, { total: null }], [['properties_total', 'integer', 1, null]]],
    ['changes from whole to fractional', [{ total: 1 }, { total: 1.5 }], [['properties_total', 'number', 1, 1.5]]],
    ['changes type', [{ total: 1 }, { total: 'one' }, { total: true }], [['properties_total', 'text', 1, 'one', true]]],
    ['becomes a list', [{ total: 1 }, { total: [1] }], [['properties_total', 'json', 1, [1]]]],
    [
      'has a reserved name',
      [{ select: 1, from: 2 }],
      [
        ['properties_select', 'integer', 1],
        ['properties_from', 'integer', 2],
      ],
    ],
    ['has a name of 300 characters', [{ [long]: 1 }], [[expect.stringMatching(/^properties_p{235}_[0-9a-f]{8}$/), 'integer', 1]]],
    [
      'differs only in case',
      [{ Total: 1, total: 2 }],
      [
        ['properties_Total', 'integer', 1],
        ['properties_total_2', 'integer', 2],
      ],
    ],
    ['is nested', [{ a: { b: { c: 'x' } } }], [['properties_a_b_c', 'text', 'x']]],
    ['is too large for an integer', [{ n: 2 ** 53 }], [['properties_n', 'number', 2 ** 53]]],
  ])('%s', (_name, rows, expected) => {
    const events = rows.map((properties) => event(properties));
    expect(own(events, true)).toEqual(expected);
    expect(own(events, false), 'without flatten').toEqual([['properties', 'json', ...rows]]);
  });
});

test('whole events always have the same leading columns, with or without values', () => {
  const names = (rows: JsonObject[]) => columnsOf(rows, false).map(({ name, type }) => `${name} ${type}`);
  const expected =
    'event_id text,type text,original_type text,event text,name text,user_id text,anonymous_id text,group_id text,timestamp timestamp,context json,properties json,traits json';
  expect(names([event({})]).join()).toBe(expected);
  expect(names([event({ a: 1 }), event({}, { user_id: 'u' })]).join()).toBe(expected);
});

test('a time that is none makes its column text, and a mapped row has only its own columns', () => {
  const [when] = columnsOf([event({}, { timestamp: 'soon' })], false).filter(({ name }) => name === 'timestamp');
  expect(when?.type).toBe('text');
  expect(
    columnsOf(
      [
        { id: 'o-1', lines: [1] },
        { id: 'o-2', total: 1.5 },
      ],
      false,
    ),
  ).toEqual([
    { name: 'id', type: 'text', values: ['o-1', 'o-2'] },
    { name: 'lines', type: 'json', values: [[1], null] },
    { name: 'total', type: 'number', values: [null, 1.5] },
  ]);
});

test('columns above the limit go to one JSON column', () => {
  const properties = Object.fromEntries(Array.from({ length: 1_200 }, (_, i) => [`p${i}`, i]));
  const columns = columnsOf([event(properties)], true);
  expect(columns).toHaveLength(1_001);
  const rest = columns.at(-1);
  expect([rest?.name, rest?.type, Object.keys((rest?.values[0] ?? {}) as JsonObject).length]).toEqual(['more_columns', 'json', 209]);
});

test('CSV quotes what would break a line or a cell', () => {
  const values = ['a', '', null, 'x,y', 'q"q', 'two\nlines', ' padded ', 'nul\0'];
  expect(
    toCsv(
      [
        { name: 'a,b', type: 'text', values },
        { name: 'n', type: 'integer', values: values.map((_, i) => i) },
      ],
      values.length,
    ),
  ).toBe('"a,b",n\na,0\n"",1\n,2\n"x,y",3\n"q""q",4\n"two\nlines",5\n" padded ",6\nnul\ufffd,7\n');
});

test('any rows give columns with unique names and one value per row', () => {
  const row = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.boolean(), (rows, flatten) => {
      const columns = columnsOf(rows, flatten);
      expect(new Set(columns.map(({ name }) => name.toLowerCase())).size).toBe(columns.length);
      for (const { values, name } of columns) {
        expect(values).toHaveLength(rows.length);
        expect(name.length).toBeGreaterThan(0);
      }
    }),
  );
});
