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
};
const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const map = (body: unknown, over: Partial<MappingFields> = {}, base: Partial<SourceDefinition> = {}) =>
  compileMapping({ ...definition, ...base }, { ...own, ...over }).map({ body, headers: {} }, NOW);
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

test('what came in is not written to', () => {
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
