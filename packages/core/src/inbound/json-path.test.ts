import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileJsonPath } from './json-path.ts';

const body = {
  id: 'evt_1',
  nested: { field: 'n', 'odd key': 'odd', "it's": 'quoted' },
  array: [{ name: 'a' }, { name: 'b' }, {}],
  map: { x: { v: 1 }, y: { v: 2 } },
  orders: [{ items: [{ sku: 'a', tags: ['x', 'y'] }, { sku: 'b' }] }, {}, { items: [] }, { items: [{ sku: 'c', tags: [] }, {}] }],
  parcels: { p: { boxes: { q: { sku: 'd' } } } },
  zero: 0,
  nothing: null,
};
const query = { topic: 'news' };
const headers = { 'x-shopify-topic': 'orders/create', 'x.dotted': 'd' };

test.each([
  ['$.id', 'evt_1'],
  ['$.nested.field', 'n'],
  ["$.nested['odd key']", 'odd'],
  ['$.nested["odd key"]', 'odd'],
  ["$.nested['it\\'s']", 'quoted'],
  ['$.array[0]', { name: 'a' }],
  ['$.array[1].name', 'b'],
  ['$.array[9]', undefined],
  ['$.array[*].name', ['a', 'b']],
  ['$.map[*].v', [1, 2]],
  ['$.map.*.v', [1, 2]],
  ['$.orders[*].items[*].sku', ['a', 'b', 'c']],
  ['orders.*.items.*.sku', ['a', 'b', 'c']],
  ['$.orders[*].items[*].tags[*]', ['x', 'y']],
  ['$.orders[*].items[*].tags', [['x', 'y'], []]],
  ['$.orders[*].items[0].sku', ['a', 'c']],
  ['$.orders[0].items[*].sku', ['a', 'b']],
  ['$.orders[*].nothing[*].sku', []],
  ['$.parcels[*].boxes[*].sku', ['d']],
  ['$.zero', 0],
  ['$.nothing', null],
  ['$.nothing.more', undefined],
  ['$.id.length', undefined],
  ['$.constructor', undefined],
  ['$.__proto__', undefined],
  ['$', body],
  ['$headers.x-shopify-topic', 'orders/create'],
  ['$headers.X-Shopify-Topic', 'orders/create'],
  ['id', 'evt_1'],
  ['nested.field', 'n'],
  ['array[*].name', ['a', 'b']],
  ['$query.topic', 'news'],
  ["$query['topic']", 'news'],
  ['$query.absent', undefined],
  ["$headers['X-Shopify-Topic']", 'orders/create'],
  ['$headers.x.dotted', 'd'],
  ['$headers.absent', undefined],
  ['$headers.__proto__', undefined],
  ["'Form Submitted'", 'Form Submitted'],
  ["'it''s'", "it''s"],
  ["''", ''],
])('%s', (path, value) => {
  const compiled = compileJsonPath(path);
  expect(compiled.ok && compiled.get({ body, headers, query })).toEqual(value);
});

test.each([
  '',
  'a b',
  '$headers',
  '$query.',
  '$id',
  '$..id',
  '$.',
  '$.a[',
  '$.a[x]',
  '$.a[?(@.b)]',
  '$.a[-1]',
  '$headers.',
  "'open",
  '$.a b',
  `$${'.a'.repeat(65)}`,
  `$.${'a'.repeat(1_000)}`,
])('refuses %s', (path) => {
  expect(compileJsonPath(path).ok).toBe(false);
});

test.each([
  ['headers.x-id', '$headers.x-id'],
  ['query.name', '$query.name'],
])('%s says how to write it', (path, expected) => {
  const compiled = compileJsonPath(path);
  expect(compiled).toEqual({ ok: false, message: expect.stringContaining(`write ${expected} `) });
});

test('no path and no body throw', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `$.${text}`),
      ),
      fc.jsonValue(),
      (path, value) => {
        const compiled = compileJsonPath(path);
        if (compiled.ok) compiled.get({ body: value, headers: {}, query: {} });
      },
    ),
  );
});
