import { expect, test } from 'vitest';
import { compileMapping, type MappingFields } from './map-webhook.ts';
import type { SourceDefinition } from './source-definition.ts';

const definition: SourceDefinition = {
  provider: 'custom',
  source_type: 'custom',
  name: 'Any',
  body: 'object',
  event_type_path: '$.type',
  event_id_paths: ['$.missing', '$.uid'],
  timestamp_path: '$.at',
  timestamp_format: 'unix_seconds',
  event_name_map: { 'a.made': 'A Made', 'b.made': 'B Made' },
  mappings: { userId: '$.user', 'properties.x': '$.x' },
  by_type: [{ prefixes: ['a.'], mappings: { userId: '$.owner', 'properties.a': '$.a' } }],
};
const own: MappingFields = {
  source_type: 'custom',
  event_type_path: null,
  mappings: {},
  event_name_map: {},
  timestamp_path: null,
  timestamp_format: null,
  default_consent: null,
};
const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const map = (body: unknown, over: Partial<MappingFields> = {}, base: Partial<SourceDefinition> = {}) =>
  compileMapping({ ...definition, ...base }, { ...own, ...over }).map({ body, headers: {}, query: { campaign: 'spring' } }, NOW);
const context = { source: 'webhook', webhook_source: 'custom' };

const CASES: [name: string, body: unknown, over: Partial<MappingFields>, event: object][] = [
  [
    'a mapped name, time and id',
    { type: 'b.made', uid: 7, user: 'u', x: 1, at: 0 },
    {},
    {
      event: 'B Made',
      messageId: '7',
      userId: 'u',
      properties: { x: 1 },
      timestamp: '1970-01-01T00:00:00.000Z',
      context: { ...context, webhook_event_id: '7' },
    },
  ],
  ['an unmapped name as it is', { type: 'c.made' }, {}, { event: 'c.made', timestamp: '2026-03-01T12:00:00.000Z', context }],
  [
    'a mapping by type over the common one',
    { type: 'a.made', user: 'u', owner: 'o', a: 2 },
    {},
    { event: 'A Made', userId: 'o', properties: { a: 2 } },
  ],
  ['which leaves the common one where it finds nothing', { type: 'a.made', user: 'u', owner: null }, {}, { userId: 'u' }],
  ["the source's own over both", { type: 'a.made', user: 'u', owner: 'o', mine: 'm' }, { mappings: { userId: '$.mine' } }, { userId: 'm' }],
  ["the source's names over the given ones", { type: 'a.made' }, { event_name_map: { 'a.made': 'Mine' } }, { event: 'Mine' }],
  ['a static name over the type', { type: 'a.made' }, { mappings: { event: "'Always'" } }, { event: 'Always' }],
  ['its own type path over the given one', { kind: 'k', type: 'a.made' }, { event_type_path: '$.kind' }, { event: 'k' }],
  [
    'its own time, by its own format',
    { type: 't', when: '2026-01-01T00:00:00Z' },
    { timestamp_path: '$.when' },
    { timestamp: '2026-01-01T00:00:00.000Z' },
  ],
  [
    'a time among the mappings',
    { type: 't', when: 1_772_366_400 },
    { mappings: { timestamp: '$.when' }, timestamp_format: 'unix_seconds' },
    { timestamp: '2026-03-01T12:00:00.000Z' },
  ],
  ...([null, 'unix_seconds', 'unix_millis', 'iso8601'] as const).flatMap((timestamp_format): typeof CASES =>
    ['', ' ', null].map((when) => [
      `${JSON.stringify(when)} as ${timestamp_format} for a time: that of receipt`,
      { type: 't', when },
      { mappings: { timestamp: '$.when' }, timestamp_format },
      { timestamp: '2026-03-01T12:00:00.000Z' },
    ]),
  ),
  [
    'a whole object, and a field beside it',
    { type: 't', data: { p: 1 } },
    { mappings: { properties: '$.data', 'properties.q': "'two'" } },
    { properties: { p: 1, q: 'two' } },
  ],
  [
    'nested targets',
    { type: 't', x: 1 },
    { mappings: { 'properties.a.b': '$.x', 'context.page.url': "'u'" } },
    { properties: { x: 1, a: { b: 1 } }, context: { page: { url: 'u' }, ...context } },
  ],
  ['an id of its own, else $.id only as webhook_event_id', { type: 't', id: 'i' }, {}, { context: { ...context, webhook_event_id: 'i' } }],
];
test.each(CASES)('%s', (_name, body, over, event) => {
  const mapped = map(body, over);
  expect(mapped).toMatchObject({ ok: true, events: [{ type: 'track', ...event }] });
});

test('the payload is not modified', () => {
  const data = Object.freeze({ p: 1 });
  expect(map(Object.freeze({ type: 't', data }), { mappings: { properties: '$.data', 'properties.q': "'two'" } }).ok).toBe(true);
  expect(data).toEqual({ p: 1 });
});
test('a target named __proto__ is data', () => {
  const mapped = map(
    { type: 't', x: { polluted: 1 } },
    { mappings: { 'properties.__proto__': '$.x', 'properties.__proto__.more': "'m'" } },
  );
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(mapped.ok && JSON.stringify(mapped.events[0]!.properties)).toContain('"__proto__":{"polluted":1,"more":"m"}');
});
test('a list is mapped whole or not at all', () => {
  const list = { body: 'list' } as const;
  expect(map([{ type: 'a' }, { type: 'b' }], {}, list)).toMatchObject({ ok: true, events: [{ event: 'a' }, { event: 'b' }] });
  expect(map([{ type: 'a' }, {}], {}, list).ok).toBe(false);
  expect(map([], {}, list)).toEqual({ ok: true, events: [] });
  expect(map({ type: 'a' }, {}, list)).toMatchObject({ ok: true, events: [{ event: 'a' }] });
});

test('header and query are read in every path of a source, event type and messageId included', () => {
  const { map: mapped } = compileMapping(definition, {
    ...own,
    event_type_path: '$headers.x-event',
    mappings: { messageId: '$headers.x-delivery', userId: '$query.user', 'properties.name': 'nested.name' },
    timestamp_path: '$query.at',
    timestamp_format: 'unix_seconds',
  });
  const input = {
    body: { nested: { name: 'n' } },
    headers: { 'x-event': 'a.made', 'x-delivery': 'd-1' },
    query: { user: 'u-1', at: '1772366400' },
  };
  expect(mapped(input, NOW)).toMatchObject({
    ok: true,
    events: [{ event: 'A Made', messageId: 'd-1', userId: 'u-1', timestamp: '2026-03-01T12:00:00.000Z', properties: { name: 'n' } }],
  });
});

test.each<[string, unknown, MappingFields['default_consent'], Record<string, string>, unknown]>([
  ['off by default', {}, null, {}, undefined],
  ['the default, marked as such', {}, { marketing: true }, {}, { categories: { marketing: true }, source: 'webhook_source_default' }],
  [
    'what the payload says wins',
    { c: { marketing: false } },
    { marketing: true },
    { 'context.consent.categories': '$.c' },
    { categories: { marketing: false } },
  ],
])('consent of a source: %s', (_name, body, default_consent, mappings, expected) => {
  const result = map({ type: 'x', ...(body as object) }, { default_consent, mappings });
  expect(result.ok && (result.events[0]?.context as { consent?: unknown }).consent).toEqual(expected);
});

test.each([
  [4_200, 'eur', 42],
  [4_200, 'JPY', 4_200],
  [4_200, 'kwd', 4.2],
  [500, 'isk', 5],
  [500, 'ugx', 5],
  [1_999, 'usd', 19.99],
  [4_200, undefined, undefined],
  ['4200', 'eur', 42],
  ['many', 'eur', undefined],
])('%s %s in major units is %s', (amount, currency, value) => {
  const base = { mappings: { 'properties.value': { path: '$.amount', as: 'major_units', currency: '$.currency' } } } as const;
  const result = map({ type: 'x', amount, currency }, {}, base);
  expect(result.ok && (result.events[0]?.properties as { value?: unknown } | undefined)?.value).toBe(value);
});

test('a list becomes objects with our field names; missing fields are left out', () => {
  const base = {
    mappings: { 'properties.products': { each: '$.lines', fields: { sku: '$.sku', price: { path: '$.price', as: 'number' } } } },
  } as const;
  const result = map({ type: 'x', lines: [{ sku: 's', price: '9.90', other: 1 }, { sku: 't' }, 'noise'] }, {}, base);
  expect(result).toMatchObject({ ok: true, events: [{ properties: { products: [{ sku: 's', price: 9.9 }, { sku: 't' }] } }] });
});

test('some event types have their own time path', () => {
  const base = { timestamp_by_type: [{ suffixes: ['.made'], path: '$.made_at' }], timestamp_format: null };
  const at = (body: object) => {
    const result = map({ at: '2026-01-01T00:00:00Z', ...body }, {}, base);
    return result.ok ? result.events[0]?.timestamp : result.reason;
  };
  expect(at({ type: 'a.made', made_at: '2025-12-31T00:00:00Z' })).toBe('2025-12-31T00:00:00.000Z');
  expect(at({ type: 'a.made' })).toBe('2026-01-01T00:00:00.000Z');
  expect(at({ type: 'a.made', made_at: '' })).toBe('2026-01-01T00:00:00.000Z');
  expect(at({ type: 'a.gone', made_at: '2025-12-31T00:00:00Z' })).toBe('2026-01-01T00:00:00.000Z');
});

test.each([
  ['a long list', '$.many[*].x', { type: 'a.made', many: Array.from({ length: 20_000 }, () => ({ a: 1 })) }, {}],
  ['lists in a long list', '$.many[*].a[*].x', { type: 'a.made', many: Array.from({ length: 20_000 }, () => ({ a: [] })) }, {}],
  ['each of many events', '$.a.b', Array.from({ length: 1_000 }, () => ({ type: 'a.made' })), { body: 'list' }],
] as const)('a thousand mappings that read %s are refused: they took up to 6 s', (_name, path, body, base) => {
  const mappings = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`properties.p${i}`, path]));
  const reason = 'mapping failed: payload_too_large, the mappings read more than 8 MB of the payload';
  expect(map(body, { mappings: mappings(1_000) }, base)).toEqual({ ok: false, reason });
  expect(map(body, { mappings: mappings(3) }, base)).toMatchObject({ ok: true });
});

test('a thousand mappings that each copy a payload of 1 MB are refused, not built', () => {
  const mappings = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`properties.p${i}`, '$']));
  const refused = { ok: false, reason: expect.stringContaining('payload_too_large') };
  expect(map({ type: 'a.made', text: 'x'.repeat(1_000_000) }, { mappings })).toEqual(refused);
  expect(map({ type: 'a.made', text: 'x'.repeat(1_000_000) }, { mappings: { 'properties.p': '$' } })).toMatchObject({ ok: true });
});
