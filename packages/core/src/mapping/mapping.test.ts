import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileMapping, type Mapped, type MappingOptions } from './mapping.ts';

const order: CanonicalEvent = {
  event_id: 'e1',
  type: 'track',
  event: 'Order Completed',
  anonymous_id: 'anon',
  user_id: 'u1',
  timestamp: '2024-05-01T12:00:00.000Z',
  context: { ip: '1.2.3.4', page: { url: 'https://shop.example/?x=1' } },
  properties: {
    order_id: 'O1',
    total: '42.50',
    currency: 'eur',
    status: 'PAID',
    nothing: null,
    mixed: [1, null, '2', 'x'],
    words: ['x', 'y'],
    none: [],
    tags: ['a', 'b'],
    products: [
      { product_id: 'p1', sku: 's1', price: 10, quantity: 2, categories: ['x', 'y'] },
      { sku: 's2', price: 22.5 },
      { product_id: 'p3', quantity: 1 },
    ],
  },
  traits: { email: ' Anna@Example.COM ' },
};
const page: CanonicalEvent = {
  event_id: 'e2',
  type: 'page',
  name: 'Home',
  timestamp: order.timestamp,
  context: {},
  properties: { url: 'https://a.b/' },
};

function run(config: unknown, event: CanonicalEvent = order, options: MappingOptions = {}): Mapped {
  const compiled = compileMapping(config, options);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const before = structuredClone(event);
  const result = compiled.run(event);
  expect(event).toEqual(before);
  return result;
}
function payload(mappings: unknown[], event = order, options: MappingOptions = {}): unknown {
  const result = run({ events: { [event.event ?? `@${event.type}`]: { mappings } } }, event, options);
  return result.kind === 'payload' ? result.payload : result;
}

test.each(['@page', ' @Page'])('a track event named %j is no page', (event) => {
  const config = { events: { '@page': { mappings: [{ value: 'page', target: 'kind' }] } } };
  expect(run(config, page)).toMatchObject({ kind: 'payload', payload: { kind: 'page' } });
  expect(run(config, { ...order, event })).toEqual({ kind: 'dropped', reason: 'mapping_default' });
});

test('the example of the contract', () => {
  const config = {
    version: 2,
    pixel_id: '1',
    global: { mappings: [{ source: 'traits.email', target: 'user_data.em', transforms: ['trim', 'lowercase', 'sha256'] }] },
    events: {
      'Order Completed': {
        vendor_event_name: 'Purchase',
        enabled: true,
        filter: { all: [{ field: 'properties.total', op: 'gt', value: 0 }] },
        enrichments: [{ target: 'properties.source', value: 'web' }],
        mappings: [
          { source: 'properties.products[*].product_id', target: 'custom_data.contents[*].id' },
          { source: 'properties.products[*].quantity', target: 'custom_data.contents[*].quantity' },
          { source: 'properties.total', target: 'custom_data.value' },
          { source: 'properties.source', target: 'custom_data.source' },
          { value: 'website', target: 'action_source' },
          { source: 'timestamp', target: 'event_time', transforms: ['to_unix_seconds'] },
        ],
        transforms: [{ target: 'custom_data.value', transforms: ['to_number'] }],
      },
    },
    defaults: { action: 'drop' },
  };
  expect(run(config)).toEqual({
    kind: 'payload',
    vendor_event_name: 'Purchase',
    payload: {
      user_data: { em: 'f7d54c22dda5b1780276601cd005909b70543fc4a6ba72d735b4cb9bbb611f01' },
      custom_data: { contents: [{ id: 'p1', quantity: 2 }, {}, { id: 'p3', quantity: 1 }], value: 42.5, source: 'web' },
      action_source: 'website',
      event_time: 1714564800,
    },
  });
  expect(run(config, page)).toEqual({ kind: 'dropped', reason: 'mapping_default' });
  expect(run(config, { ...order, properties: { total: 0 } })).toEqual({ kind: 'dropped', reason: 'mapping_filter' });
});

describe('one mapping', () => {
  test.each<[string, unknown, unknown]>([
    ['source', { source: 'user_id', target: 'a' }, { a: 'u1' }],
    ['a missing source is left out', { source: 'properties.x', target: 'a' }, {}],
    ['null is missing', { source: 'properties.nothing', target: 'a' }, {}],
    ['the first that is present', { source: ['properties.x', 'properties.nothing', 'user_id'], target: 'a' }, { a: 'u1' }],
    ['index', { source: 'properties.products[1].sku', target: 'a' }, { a: 's2' }],
    ['value', { value: { x: [1] }, target: 'a.b' }, { a: { b: { x: [1] } } }],
    ['a constant null is written', { value: null, target: 'a' }, { a: null }],
    ['template', { template: '{{event}}/{{properties.order_id}}', target: 'a' }, { a: 'Order Completed/O1' }],
    ['an empty template is missing', { template: '{{properties.x}}', target: 'a', default: 'none' }, { a: 'none' }],
    ['default', { source: 'properties.x', target: 'a', default: 0 }, { a: 0 }],
    [
      'default where a transform finds nothing',
      { source: 'properties.status', target: 'a', transforms: ['to_number'], default: 1 },
      { a: 1 },
    ],
    [
      'value map',
      { source: 'properties.status', target: 'a', transforms: ['lowercase'], value_map: { paid: 'ok', '*': 'bad' } },
      { a: 'ok' },
    ],
    ['value map, the rest', { source: 'properties.currency', target: 'a', value_map: { paid: 'ok', '*': 'bad' } }, { a: 'bad' }],
    ['value map without a rest', { source: 'properties.currency', target: 'a', value_map: { paid: 'ok' } }, { a: 'eur' }],
    ['value map, left out', { source: 'properties.currency', target: 'a', value_map: { eur: null } }, {}],
    ['value map on a missing value', { source: 'properties.x', target: 'a', value_map: { '*': 'bad' } }, {}],
    ['value map on a list', { source: 'properties.tags', target: 'a', value_map: { a: 1 } }, { a: [1, 'b'] }],
    ['when', { value: 1, target: 'a', when: { field: 'user_id', op: 'exists' } }, { a: 1 }],
    ['when not', { value: 1, target: 'a', required: true, when: { field: 'user_id', op: 'not_exists' } }, {}],
    ['a list without holes', { source: 'properties.products[*].product_id', target: 'ids' }, { ids: ['p1', 'p3'] }],
    [
      'a list without what a transform found nothing in',
      { source: 'properties.mixed', target: 'a', transforms: ['to_number'] },
      { a: [1, 2] },
    ],
    ['a list of which a transform left nothing', { source: 'properties.words', target: 'a', transforms: ['to_number'] }, {}],
    ['an untouched list stays as it is', { source: 'properties.mixed', target: 'a' }, { a: [1, null, '2', 'x'] }],
    ['an empty list stays one', { source: 'properties.none', target: 'a', transforms: ['to_number'] }, { a: [] }],
    [
      'the first present of each element',
      { source: ['properties.products[*].product_id', 'properties.products[*].sku'], target: 'ids' },
      { ids: ['p1', 's2', 'p3'] },
    ],
    ['a list transform', { source: 'properties.products[*].quantity', target: 'n', transforms: ['sum'] }, { n: 3 }],
    ['a projection that finds nothing', { source: 'properties.products[*].x', target: 'ids', default: 'none' }, { ids: 'none' }],
    ['nested lists', { source: 'properties.products[*].categories[*]', target: 'c' }, { c: ['x', 'y'] }],
    ['the whole event', { source: '$', target: 'raw' }, { raw: order }],
    [
      'the payload itself',
      { source: 'properties.products[0]', target: '$' },
      order.properties?.products && (order.properties.products as unknown[])[0],
    ],
    ['a parameter', { source: 'parameters.pixel', target: 'p' }, { p: '77' }],
    ['a parameter in a template', { template: 'id/{{parameters.pixel}}', target: 'p' }, { p: 'id/77' }],
    ['quoted target', { value: 1, target: 'a["b.c"].d' }, { a: { 'b.c': { d: 1 } } }],
    ['index target', { value: 1, target: 'a[1].b' }, { a: [null, { b: 1 }] }],
  ])('%s', (_name, mapping, expected) => expect(payload([mapping], order, { parameters: { pixel: '77' } })).toEqual(expected));
});

describe('lists side by side', () => {
  test.each<[string, unknown[], unknown]>([
    [
      'aligned by index, defaults for each element',
      [
        { source: ['properties.products[*].product_id', 'properties.products[*].sku'], target: 'items[*].id' },
        { source: 'properties.products[*].quantity', target: 'items[*].quantity', default: 1 },
        { source: 'properties.products[*].categories', target: 'items[*].category', transforms: ['join'] },
      ],
      {
        items: [
          { id: 'p1', quantity: 2, category: 'x,y' },
          { id: 's2', quantity: 1 },
          { id: 'p3', quantity: 1 },
        ],
      },
    ],
    [
      'constants and single values go to every element',
      [
        { source: 'properties.products[*].sku', target: 'items[*].id' },
        { value: 'product', target: 'items[*].type' },
        { source: 'properties.currency', target: 'items[*].price.currency' },
      ],
      {
        items: [
          { id: 's1', type: 'product', price: { currency: 'eur' } },
          { id: 's2', type: 'product', price: { currency: 'eur' } },
          { type: 'product', price: { currency: 'eur' } },
        ],
      },
    ],
    ['a constant alone makes no element', [{ value: 'product', target: 'items[*].type' }], {}],
    ['a single source makes one', [{ source: 'properties.order_id', target: 'items[*].id' }], { items: [{ id: 'O1' }] }],
    ['a list value is dealt out', [{ source: 'properties.tags', target: 'items[*].tag' }], { items: [{ tag: 'a' }, { tag: 'b' }] }],
    ['a bare list target', [{ source: 'properties.products[*].product_id', target: 'ids[*]' }], { ids: ['p1', 'p3'] }],
    [
      'lists of lists',
      [{ source: 'properties.products[*].categories[*]', target: 'items[*].c[*].name' }],
      { items: [{ c: [{ name: 'x' }, { name: 'y' }] }, {}, {}] },
    ],
    [
      'two source lists',
      [
        { source: 'properties.products[*].price', target: 'items[*].price' },
        { source: 'properties.tags[*]', target: 'items[*].tag' },
      ],
      { items: [{ price: 10, tag: 'a' }, { price: 22.5, tag: 'b' }, {}] },
    ],
    [
      'over a list that another mapping gave',
      [
        { source: 'properties.products', target: 'items' },
        { value: 1, target: 'items[*].n' },
        { source: 'user_id', target: 'items[0].user' },
      ],
      {
        items: (order.properties?.products as object[]).map((product, i) => ({ ...product, n: 1, ...(i === 0 ? { user: 'u1' } : {}) })),
      },
    ],
  ])('%s', (_name, mappings, expected) => expect(payload(mappings)).toEqual(expected));
});

describe('several mappings to one place', () => {
  test.each<[string, unknown[], unknown]>([
    [
      'the last with a value counts',
      [
        { value: 1, target: 'a' },
        { source: 'user_id', target: 'a' },
        { source: 'properties.x', target: 'a' },
      ],
      { a: 'u1' },
    ],
    [
      'a narrower target is laid over a wider one',
      [
        { value: 5, target: 'p.total' },
        { source: 'properties.products[1]', target: 'p' },
      ],
      { p: { sku: 's2', price: 22.5, total: 5 } },
    ],
    [
      'at the root too',
      [
        { source: 'properties.products[1]', target: '$' },
        { value: 1, target: 'price' },
      ],
      { sku: 's2', price: 1 },
    ],
    [
      'required is content with either',
      [
        { source: 'properties.x', target: 'a', required: true },
        { value: 1, target: 'a' },
      ],
      { a: 1 },
    ],
  ])('%s', (_name, mappings, expected) => expect(payload(mappings)).toEqual(expected));
});

describe('required', () => {
  test.each([
    [{ source: 'properties.x', target: 'a.b', required: true }, 'missing_required:a.b'],
    [{ source: 'properties.products[*].x', target: 'c[*].x', required: true }, 'missing_required:c[*].x'],
    [{ source: 'properties.status', target: 'n', transforms: ['to_number'], required: true }, 'missing_required:n'],
    [{ value: '', target: 'a', required: true }, 'missing_required:a'],
    [{ value: ['', ''], target: 'a', required: true }, 'missing_required:a'],
  ])('%j', (mapping, reason) => expect(payload([mapping])).toEqual({ kind: 'dropped', reason }));
  test('one element is enough', () => {
    expect(payload([{ source: 'properties.products[*].product_id', target: 'c[*].id', required: true }])).toEqual({
      c: [{ id: 'p1' }, {}, { id: 'p3' }],
    });
  });
});

describe('which entry', () => {
  const entries = [
    { enabled: false, mappings: [{ value: 'off', target: 'a' }] },
    { filter: { field: 'properties.total', op: 'gt', value: 100 }, mappings: [{ value: 'big', target: 'a' }] },
    {
      filter: { field: 'properties.total', op: 'gt', value: 10 },
      vendor_event_name: 'Buy {{properties.order_id}}',
      mappings: [{ value: 'small', target: 'a' }],
    },
  ];
  test.each<[string, unknown, CanonicalEvent, unknown]>([
    [
      'the first whose filter passes',
      { events: { 'Order Completed': entries } },
      order,
      { kind: 'payload', payload: { a: 'small' }, vendor_event_name: 'Buy O1' },
    ],
    [
      'none passes',
      { events: { 'Order Completed': entries } },
      { ...order, properties: {} },
      { kind: 'dropped', reason: 'mapping_filter' },
    ],
    [
      'switched off',
      { events: { '@page': { enabled: false } }, defaults: { action: 'pass_through' } },
      page,
      { kind: 'dropped', reason: 'mapping_filter' },
    ],
    ['@page', { events: { '@page': { mappings: [{ source: 'name', target: 'n' }] } } }, page, { kind: 'payload', payload: { n: 'Home' } }],
    ['drop', { defaults: { action: 'drop' } }, order, { kind: 'dropped', reason: 'mapping_default' }],
    ['pass through', { defaults: { action: 'pass_through' } }, order, { kind: 'pass_through', event: order }],
    [
      'map, with global mappings',
      {
        global: { mappings: [{ source: 'user_id', target: 'uid' }] },
        defaults: { action: 'map', vendor_event_name: 'custom', mappings: [{ source: 'event', target: 'n' }] },
      },
      order,
      { kind: 'payload', payload: { uid: 'u1', n: 'Order Completed' }, vendor_event_name: 'custom' },
    ],
    ['nothing said', {}, order, { kind: 'dropped', reason: 'mapping_default' }],
    [
      'a global filter',
      { global: { filter: { field: 'user_id', op: 'not_exists' } }, defaults: { action: 'map' } },
      order,
      { kind: 'dropped', reason: 'mapping_filter' },
    ],
  ])('%s', (_name, config, event, expected) => expect(run(config, event)).toEqual(expected));
  describe('event names match trimmed and in any letter case, unless the exact name is mapped', () => {
    const names = ['Order Completed', 'order refunded', 'Order Refunded'];
    const named = Object.fromEntries(names.map((name) => [name, { vendor_event_name: `as ${name}` }]));
    test.each([
      ['Order Completed', 'as Order Completed'],
      ['order completed', 'as Order Completed'],
      ['  ORDER Completed\t', 'as Order Completed'],
      ['Order Refunded', 'as Order Refunded'],
      ['order refunded', 'as order refunded'],
      ['ORDER REFUNDED ', 'as order refunded'],
      ['OrderCompleted', undefined],
    ])('%j', (event, expected) => {
      const result = run({ events: named }, { ...order, event });
      expect(result.kind === 'payload' ? result.vendor_event_name : undefined).toBe(expected);
    });
  });
  test('the vendor may define what happens to unmapped events', () => {
    expect(run({}, order, { default_action: 'pass_through' }).kind).toBe('pass_through');
  });
});

test('transforms of the payload', () => {
  const mappings = [
    { source: 'properties.total', target: 'v' },
    { source: 'properties.products[*].price', target: 'items[*].price' },
    { source: 'properties.tags', target: 'tags' },
    { source: 'properties.status', target: 'gone' },
    { source: 'properties.mixed', target: 'numbers' },
    { source: 'properties.words', target: 'none' },
  ];
  const transforms = [
    { target: 'v', transforms: ['to_number', { name: 'multiply', args: [2] }] },
    { target: 'items[*].price', transforms: ['to_string'] },
    { target: 'tags', transforms: ['uppercase'] },
    { target: 'gone', transforms: ['to_number'] },
    { target: 'numbers', transforms: ['to_number'] },
    { target: 'none', transforms: ['to_number'] },
    { target: 'missing', transforms: ['to_number'] },
  ];
  expect(run({ events: { 'Order Completed': { mappings, transforms } } })).toEqual({
    kind: 'payload',
    payload: { v: 85, items: [{ price: '10' }, { price: '22.5' }, {}], tags: ['A', 'B'], numbers: [1, 2] },
  });
});

test('a payload shares nothing with the event', () => {
  const result = run({ events: { 'Order Completed': { mappings: [{ source: 'properties', target: 'p' }] } } });
  const copy = (result as { payload: { p: { products: object[] } } }).payload;
  copy.p.products.length = 0;
  expect((order.properties?.products as object[]).length).toBe(3);
});

test('a payload shares nothing with the event, not even after a transform or below another mapping', () => {
  const mappings = [
    { source: 'properties', target: 'p', transforms: [{ name: 'omit', args: ['total'] }] },
    { source: 'user_id', target: 'p.products[0].buyer' },
    { source: 'properties.products', target: 'q', transforms: ['to_list'] },
  ];
  const before = structuredClone(order);
  const result = run({ events: { 'Order Completed': { mappings } } });
  expect(order).toEqual(before);
  const { p, q } = (result as { payload: { p: { products: Record<string, unknown>[]; words: string[] }; q: object[] } }).payload;
  expect(p.products[0]).toMatchObject({ product_id: 'p1', buyer: 'u1' });
  expect([p.products[1] === q[1], q[1] === (order.properties?.products as object[])[1]]).toEqual([false, false]);
  expect(p.words === order.properties?.words).toBe(false);
});

test('a template that writes too much fails the event', () => {
  const big = { ...order, properties: { list: Array.from({ length: 300 }, () => 'x'.repeat(5_000)) } };
  const result = run(
    { events: { 'Order Completed': { mappings: [{ template: '{{#each properties.list}}{{this}}{{/each}}', target: 'a' }] } } },
    big,
  );
  expect(result).toMatchObject({ kind: 'failed', reason: expect.stringContaining('events.Order Completed.mappings[0].template') });
});

describe('invalid mappings', () => {
  test.each<[string, unknown, string]>([
    ['unknown key', { events: { A: { mapping: [] } } }, 'events.A.mapping'],
    [
      'unknown transform',
      {
        events: {
          'Order Completed': {
            mappings: [
              { value: 1, target: 'a' },
              { value: 1, target: 'b' },
              { value: 1, target: 'c', transforms: ['x'] },
            ],
          },
        },
      },
      'events.Order Completed.mappings[2].transforms[0]',
    ],
    ['no target', { global: { mappings: [{ value: 1 }] } }, 'global.mappings[0].target'],
    ['two origins', { global: { mappings: [{ value: 1, source: 'a', target: 'b' }] } }, 'global.mappings[0]'],
    ['no origin', { global: { mappings: [{ target: 'b' }] } }, 'global.mappings[0]'],
    ['bad path', { global: { mappings: [{ source: 'a..b', target: 'b' }] } }, 'global.mappings[0].source'],
    ['bad path in a list', { global: { mappings: [{ source: ['a', 'a['], target: 'b' }] } }, 'global.mappings[0].source[1]'],
    ['bad template', { global: { mappings: [{ template: '{{#if}}', target: 'b' }] } }, 'global.mappings[0].template'],
    ['bad filter', { events: { A: { filter: { all: [{ field: 'a', op: 'is' }] } } } }, 'events.A.filter.all[0].op'],
    ['bad pattern', { events: { A: { filter: { field: 'a', op: 'matches', value: '(' } } } }, 'events.A.filter.value'],
    ['bad when', { events: { A: { mappings: [{ value: 1, target: 'a', when: 7 }] } } }, 'events.A.mappings[0].when'],
    ['bad action', { defaults: { action: 'keep' } }, 'defaults.action'],
    ['bad version', { version: 3 }, 'version'],
    [
      'list and object',
      { global: { mappings: [{ value: 1, target: 'a.b' }] }, events: { A: { mappings: [{ source: 'x[*]', target: 'a[*].c' }] } } },
      'events.A.mappings[0].target',
    ],
    ['list entry', { events: { A: [{ mappings: [] }, { enable: true }] } }, 'events.A[1].enable'],
    ['enabled', { events: { A: { enabled: 'yes' } } }, 'events.A.enabled'],
    ['value map', { global: { mappings: [{ value: 1, target: 'a', value_map: [] }] } }, 'global.mappings[0].value_map'],
    ['events', { events: [] }, 'events'],
    ['global', { global: [] }, 'global'],
    ['steps in version 2', { steps: [] }, 'steps'],
    ['version 1 without steps', { version: 1 }, 'steps'],
    ['a wrong step', { version: 1, steps: [{ type: 'set', target: 'a' }] }, 'steps[0].value'],
    [
      'a wrong on_error',
      { version: 1, steps: [{ type: 'filter', condition: { field: 'a', op: 'exists' }, on_error: 'x' }] },
      'steps[0].on_error',
    ],
    ['post transform', { events: { A: { transforms: [{ target: '$', transforms: ['trim'] }] } } }, 'events.A.transforms[0].target'],
    ['no object', 7, ''],
  ])('%s', (_name, config, field) => {
    const compiled = compileMapping(config);
    expect(compiled).toMatchObject({ ok: false });
    expect(compiled.ok ? [] : compiled.faults.map((fault) => fault.field)).toContain(field);
  });
  test('every fault is named, under the place given', () => {
    const compiled = compileMapping(
      { global: { mappings: [{ target: 'a' }, { value: 1 }] }, defaults: { action: 1 } },
      { where: 'config' },
    );
    expect(compiled.ok ? [] : compiled.faults.map((fault) => fault.field)).toEqual([
      'config.global.mappings[0]',
      'config.global.mappings[1].target',
      'config.defaults.action',
    ]);
  });
});

describe('version 1', () => {
  test('steps over the event', () => {
    const steps = [
      { type: 'filter', condition: { field: 'properties.total', op: 'gt', value: 1 } },
      { type: 'map', source: 'traits.email', target: 'properties.email', transforms: ['trim', 'lowercase'] },
      { type: 'transform', target: 'properties.total', transforms: ['to_number'] },
      { type: 'enrich', target: 'context.source', value: 'web' },
      { type: 'compute', target: 'properties.double', expression: 'properties.total * 2' },
    ];
    const result = run({ version: 1, steps });
    expect(result).toMatchObject({
      kind: 'payload',
      payload: { properties: { email: 'anna@example.com', total: 42.5, double: 85 }, context: { source: 'web', ip: '1.2.3.4' } },
    });
  });
  test.each([
    ['skip', { kind: 'payload', payload: order }],
    ['drop', { kind: 'dropped', reason: 'mapping_filter' }],
    ['fail', { kind: 'failed', reason: 'steps[0]: there is no value for properties.status' }],
    [undefined, { kind: 'payload', payload: order }],
  ])('on_error %s', (onError, expected) => {
    const step = { type: 'transform', target: 'properties.status', transforms: ['to_number'], ...(onError ? { on_error: onError } : {}) };
    expect(run({ version: 1, steps: [step] })).toEqual(expected);
  });
});

test('equal mappings are compiled once, parameters counting only where they are read', () => {
  const config = () => ({ events: { 'Order Completed': { mappings: [{ source: 'user_id', target: 'u' }] } } });
  const reading = () => ({ events: { 'Order Completed': { mappings: [{ source: 'parameters.id', target: 'u' }] } } });
  const first = compileMapping({ ...config(), pixel: 'a' }, { parameters: { id: 1 } });
  expect(compileMapping({ ...config(), pixel: 'b' }, { parameters: { id: 2 } })).toBe(first);
  expect(compileMapping(config(), { default_action: 'pass_through' })).not.toBe(first);
  expect([1, 2].map((id) => run(reading(), order, { parameters: { id } }))).toEqual(
    [1, 2].map((id) => ({ kind: 'payload', payload: { u: id } })),
  );
});

test('parameter texts count as the numbers and booleans they represent', () => {
  const config = (factor: string, on: string) => ({
    events: {
      'Order Completed': {
        enabled: on,
        mappings: [{ source: 'properties.total', target: 'v', transforms: [{ name: 'multiply', args: [factor] }] }],
      },
    },
  });
  expect(run(config('2', 'true'))).toEqual({ kind: 'payload', payload: { v: 85 } });
  expect(run(config('2', 'false'))).toEqual({ kind: 'dropped', reason: 'mapping_filter' });
  expect(compileMapping(config('{{pipeline_param.FACTOR}}', '{{pipeline_param.ON}}')).ok).toBe(true);
  expect(compileMapping(config('two', 'on'))).toMatchObject({
    ok: false,
    faults: [{ field: 'events.Order Completed.enabled' }, { field: 'events.Order Completed.mappings[0].transforms[0].args[0]' }],
  });
});
