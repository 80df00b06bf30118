/** Rules on events as pipelines run them: paths, targets and results that are odd. `rules.test.ts` has the rules themselves. */
import { describe, expect, test } from 'vitest';
import type { Transformation } from '../config/resources.ts';
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileTransformation, validateTransformation } from './transformation.ts';

const properties = {
  a: 1,
  nothing: null,
  list: [1, 2, 3],
  products: [{ id: 1 }, {}, { id: 3, p: { q: 1 } }],
};
const event = {
  event_id: 'e1',
  type: 'track',
  event: 'T',
  timestamp: '2026-01-01T00:00:00.000Z',
  context: { ip: '192.0.2.1' },
  properties,
  user_id: 'u1',
} as unknown as CanonicalEvent;

function run(rules: unknown[], given: CanonicalEvent = event) {
  const source = { id: 'trf_1', kind: 'rules', rules, code: null, event_filter: null } as unknown as Transformation;
  const compiled = compileTransformation(source, {});
  if (!compiled.ok || compiled.transformation.kind !== 'rules') throw new Error(JSON.stringify(compiled));
  const before = structuredClone(given);
  const result = compiled.transformation.apply(given);
  expect(given).toEqual(before);
  return result.kind === 'event' ? { ...result, event: JSON.parse(JSON.stringify(result.event)) as CanonicalEvent } : result;
}
const set = (target: string, value: unknown) => ({ type: 'set', target, value });
const rename = (source: unknown, target: string) => ({ type: 'rename', source, target });
const remove = (target: string) => ({ type: 'delete', target });
const map = (source: unknown, target: string, more: object = {}) => ({ type: 'map', source, target, ...more });

describe('properties after a rule', () => {
  const { a, nothing, list, products } = properties;
  test.each<[rule: object, after: object | 'unchanged']>([
    // A target creates what it needs. What is in its way, and can hold no names or elements, is replaced.
    [set('properties.x.y', 1), { ...properties, x: { y: 1 } }],
    [set('properties.a.b.c', 1), { ...properties, a: { b: { c: 1 } } }],
    [set('properties.nothing.b', 1), { ...properties, nothing: { b: 1 } }],
    [set('properties.list.x', 1), { ...properties, list: { x: 1 } }],
    [set('properties.a[2]', 1), { ...properties, a: [null, null, 1] }],
    [set('properties.list[1]', 9), { ...properties, list: [1, 9, 3] }],
    [set('properties.list[4]', 9), { ...properties, list: [1, 2, 3, null, 9] }],
    [set('properties.products[1].id', 2), { ...properties, products: [{ id: 1 }, { id: 2 }, products[2]] }],
    [set('properties.products[*].n', 1), { ...properties, products: products.map((product) => ({ ...product, n: 1 })) }],
    [set('properties["x.y"]', 1), { ...properties, 'x.y': 1 }],
    [set('$.properties.x', null), { ...properties, x: null }],
    // A value is moved; null counts as missing.
    [rename('properties.a', 'properties.a'), properties],
    [rename('properties.a', 'properties.b'), { nothing, list, products, b: a }],
    [rename('properties.a', 'properties.a.b'), { nothing, list, products, a: { b: a } }],
    [rename('properties', 'properties.old'), { old: properties }],
    [rename('properties.products[2].p', 'properties'), { q: 1 }],
    [rename('properties.nothing', 'properties.a'), 'unchanged'],
    [rename('properties.missing', 'properties.a'), 'unchanged'],
    [rename('properties.a.b', 'properties.c'), 'unchanged'],
    [rename('properties.list[0]', 'properties.first'), { ...properties, list: [2, 3], first: 1 }],
    [rename(['properties.missing', 'properties.nothing', 'properties.a'], 'properties.b'), { nothing, list, products, b: a }],
    [rename('properties.products[*].id', 'properties.ids'), { a, nothing, list, products: [{}, {}, { p: { q: 1 } }], ids: [1, 3] }],
    [
      rename('properties.products[*].id', 'properties.products[*].sku'),
      { a, nothing, list, products: [{ sku: 1 }, {}, { p: { q: 1 }, sku: 3 }] },
    ],
    // Entries of lists go, not only their values.
    [remove('properties.list[1]'), { ...properties, list: [1, 3] }],
    [remove('properties.list[*]'), { ...properties, list: [] }],
    [remove('properties.products[*].id'), { ...properties, products: [{}, {}, { p: { q: 1 } }] }],
    [remove('properties.products[*].p.q'), { ...properties, products: [{ id: 1 }, {}, { id: 3, p: {} }] }],
    [remove('properties.products[0].id'), { ...properties, products: [{}, {}, products[2]] }],
    [remove('properties.nothing'), { a, list, products }],
    [remove('properties.list[9]'), 'unchanged'],
    [remove('properties.products[0].missing'), 'unchanged'],
    [remove('properties.products[9].id'), 'unchanged'],
    [remove('properties.products[*].missing'), 'unchanged'],
    [remove('properties.a.b'), 'unchanged'],
    [remove('properties.a[0]'), 'unchanged'],
    [remove('properties.list.length'), 'unchanged'],
    // `[*]` gives a list without gaps, and stays aligned in a list.
    [map('properties.products[*].id', 'properties.ids'), { ...properties, ids: [1, 3] }],
    [map('properties.products[*].id', 'properties.ids', { transforms: ['to_string'] }), { ...properties, ids: ['1', '3'] }],
    [map('properties.products[*].missing', 'properties.ids'), 'unchanged'],
    [map('properties.products[*].missing', 'properties.ids', { default: 'none' }), { ...properties, ids: 'none' }],
    [
      map('properties.products[*].id', 'properties.products[*].sku'),
      { ...properties, products: [{ id: 1, sku: 1 }, {}, { ...products[2], sku: 3 }] },
    ],
    [map(['properties.missing', 'properties.list[2]'], 'properties.c'), { ...properties, c: 3 }],
    [map('properties.nothing', 'properties.c', { default: 1 }), { ...properties, c: 1 }],
  ])('%j', (rule, after) => {
    const result = run([rule]);
    if (result.kind !== 'event') throw new Error(JSON.stringify(result));
    expect(result.event.properties).toEqual(after === 'unchanged' ? properties : after);
    expect(result.changed).toHaveLength(after === 'unchanged' ? 0 : 1);
  });
});

test.each([
  ['__proto__', '__proto__.polluted'],
  ['constructor', 'constructor.prototype.polluted'],
  ['toString', 'toString.polluted'],
])('%s is a name like any other', (name, path) => {
  const result = run([set(`properties.${path}`, 1), map(`properties.${path}`, 'properties.copy'), remove(`properties.${path}`)]);
  expect(JSON.stringify(result)).toContain(`"${name}":{`);
  expect(result).toMatchObject({ event: { properties: { copy: 1 } } });
  expect(run([rename(`properties.${name}`, 'properties.x'), remove(`properties.${name}`)])).toMatchObject({ changed: [] });
  for (const object of [{}, [], () => undefined]) expect((object as { polluted?: unknown }).polluted).toBeUndefined();
});

describe('an event that rules leave', () => {
  test.each<[string, object, Record<string, unknown>]>([
    ['a number as a name', set('event', 5), { event: '5' }],
    ['a number as an id', set('user_id', 7), { user_id: '7' }],
    ['a null id is no id', set('user_id', null), { user_id: undefined }],
    ['an empty id is no id', set('user_id', ''), { user_id: undefined }],
    ['a null object is none', set('properties', null), { properties: undefined }],
    ['null traits', set('traits', null), { traits: undefined }],
    ['a date', set('timestamp', '2026-05-01'), { timestamp: '2026-05-01T00:00:00.000Z' }],
    ['a time with an offset', set('timestamp', '2026-05-01T12:00:00+02:00'), { timestamp: '2026-05-01T10:00:00.000Z' }],
    ['a time without a zone is UTC', set('timestamp', '2026-05-01T12:00:00'), { timestamp: '2026-05-01T12:00:00.000Z' }],
    ['a renamed name', rename('properties.products[0].id', 'event'), { event: '1' }],
  ])('%s', (_name, rule, after) => {
    const result = run([rule]);
    expect(result.kind).toBe('event');
    if (result.kind === 'event') for (const [key, value] of Object.entries(after)) expect(result.event[key as 'event']).toEqual(value);
  });

  test.each<[object, string]>([
    [set('event', true), 'event is no text'],
    [set('event', null), 'a track event has no name'],
    [set('event', ''), 'a track event has no name'],
    [remove('event'), 'a track event has no name'],
    [rename('event', 'name'), 'a track event has no name'],
    [set('user_id', { id: 1 }), 'user_id is no text'],
    [set('user_id.x', 1), 'user_id is no text'],
    [set('original_type', [1]), 'original_type is neither screen nor alias'],
    [set('context', null), 'context is no object'],
    [set('context', []), 'context is no object'],
    [set('properties', [1]), 'properties is no object'],
    [set('properties[0]', 1), 'properties is no object'],
    [set('traits', 'x'), 'traits is no object'],
    // Null would switch on what the caller switched off.
    [set('integrations', null), 'integrations is no object'],
    [set('timestamp', 'soon'), 'timestamp is no ISO 8601 time'],
    [set('timestamp', ''), 'timestamp is no ISO 8601 time'],
    [set('timestamp', null), 'timestamp is no ISO 8601 time'],
    [set('timestamp', 1_767_225_600), 'timestamp is no ISO 8601 time'],
    [map('properties.list', 'timestamp'), 'timestamp is no ISO 8601 time'],
  ])('is a dead letter after %j', (rule, reason) => {
    expect(run([rule])).toEqual({ kind: 'failed', reason: `after the rules ${reason}` });
  });

  test('only a track event needs a name', () => {
    expect(run([remove('name')], { ...event, type: 'page', name: 'Home' })).toMatchObject({ kind: 'event' });
  });
});

test.each<[object, field: string]>([
  [set('event_id', 'x'), 'rules[0].target'],
  [set('["type"]', 'page'), 'rules[0].target'],
  [set('type.x', 'page'), 'rules[0].target'],
  [set('event_id[0]', 'x'), 'rules[0].target'],
  [map('properties.a', '$.event_id'), 'rules[0].target'],
  [rename('properties.a', 'type'), 'rules[0].target'],
  [rename('type', 'properties.t'), 'rules[0].source'],
  [rename(['properties.a', 'timestamp'], 'properties.t'), 'rules[0].source'],
  [rename([], 'properties.t'), 'rules[0].source'],
  [remove('context'), 'rules[0].target'],
  [remove('["timestamp"]'), 'rules[0].target'],
  [set('$', {}), 'rules[0].target'],
  [set('$[0]', 1), 'rules[0].target'],
  [set('[*].a', 1), 'rules[0].target'],
  [set('properties.a[-1]', 1), 'rules[0].target'],
  [set('properties.list[10000]', 1), 'rules[0].target'],
  [set('properties..a', 1), 'rules[0].target'],
  [set('properties.', 1), 'rules[0].target'],
  [set('', 1), 'rules[0].target'],
])('%j is refused', (rule, field) => {
  const faults = validateTransformation({ kind: 'rules', rules: [rule] as never });
  expect(faults.map((fault) => fault.field)).toContain(field);
});
