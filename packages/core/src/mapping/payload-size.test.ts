import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { compileVendor } from '../vendor/compile.ts';
import type { VendorDefinition } from '../vendor/definition.ts';
import { compileMapping } from './mapping.ts';
import { eventWith } from './testing/event-with.ts';

const rows = (count: number, row: (i: number) => JsonObject) => Array.from({ length: count }, (_, i) => row(i));
function run(entry: JsonObject, properties: JsonObject) {
  const mapping = compileMapping({ events: { A: entry } });
  if (!mapping.ok) throw new Error(JSON.stringify(mapping.faults));
  return mapping.run(eventWith(properties));
}
const TOO_LARGE = { kind: 'failed', reason: expect.stringMatching(/^payload_too_large: /) };
const MEGABYTE = 'x'.repeat(1_000_000);
const LIST = Array.from({ length: 200_000 }, (_, i) => i);
const FIELDS = Object.fromEntries(LIST.slice(0, 40_000).map((i) => [`f${i}`, i]));
/** 25,000 objects: a copy of it is memory, not only text. */
const OBJECTS = Array.from({ length: 25_000 }, (_, i) => ({ i }));

test('400 enrichments that put the properties into a part of themselves nest them 64 levels deep: the stack overflowed', () => {
  const enrichments = rows(400, () => ({ source: 'properties', target: `properties${'.a'.repeat(40)}` }));
  const result = run({ enrichments, mappings: [{ source: 'properties', target: 'p' }] }, { a: 1 });
  const deepest = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(deepest)) : 0;
  expect(result.kind === 'payload' && deepest(result.payload)).toBeGreaterThan(40);
  expect(result.kind === 'payload' && deepest(result.payload)).toBeLessThanOrEqual(64);
});

describe('a mapping that would make more than 4 MB of an event fails the event', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['1,000 rows that copy the whole event', { mappings: rows(1_000, (i) => ({ source: '$', target: `t${i}` })) }, { text: MEGABYTE }],
    [
      '1,000 rows that copy one text',
      { mappings: rows(1_000, (i) => ({ source: 'properties.text', target: `t${i}` })) },
      { text: MEGABYTE },
    ],
    ['1,000 rows that copy objects', { mappings: rows(1_000, (i) => ({ source: 'properties', target: `t${i}` })) }, { list: OBJECTS }],
    [
      '40 enrichments that each put the properties into themselves',
      { enrichments: rows(40, (i) => ({ source: 'properties', target: `properties.p${i}` })), mappings: [{ source: '$', target: '$' }] },
      { a: 1 },
    ],
    [
      'a small event that a template makes long, copied by 1,000 rows',
      {
        enrichments: [{ template: '{{#each properties.list}}{{@root.properties.text}}{{/each}}', target: 'properties.long' }],
        mappings: rows(1_000, (i) => ({ source: 'properties.long', target: `t${i}` })),
      },
      { list: rows(100, () => ({})), text: 'x'.repeat(1_000) },
    ],
    ['300 lists that are filled with nulls', { mappings: rows(300, (i) => ({ value: 1, target: `t${i}[9999]` })) }, {}],
    [
      '300 lists that are laid over others and filled',
      { mappings: rows(600, (i) => ({ source: 'properties.a', target: i % 2 ? `t${i >> 1}[9999]` : `t${i >> 1}` })) },
      { a: [1] },
    ],
    [
      'an enrichment in every element of a list',
      { enrichments: [{ value: 'x'.repeat(10_000), target: 'properties.list[*].x' }], mappings: [{ source: '$', target: '$' }] },
      { list: rows(1_000, () => ({})) },
    ],
    ['1,000 templates', { mappings: rows(1_000, (i) => ({ template: '{{properties.text}}', target: `t${i}` })) }, { text: MEGABYTE }],
    [
      '1,000 templates that loop over a long list',
      { mappings: rows(1_000, (i) => ({ template: '{{#each properties.list}}{{/each}}', target: `t${i}` })) },
      { list: LIST },
    ],
    [
      'a text in every element of a list',
      {
        mappings: [
          { source: 'properties.list[*]', target: 'l[*].id' },
          { source: 'properties.text', target: 'l[*].text' },
        ],
      },
      { list: LIST.slice(0, 1_000), text: 'x'.repeat(100_000) },
    ],
    [
      'a long name in every element of a list',
      { mappings: [{ source: 'properties.list[*]', target: `l[*].${'k'.repeat(500)}` }] },
      { list: LIST },
    ],
    [
      '1,000 hashes of a long text, which are short',
      { mappings: rows(1_000, (i) => ({ source: 'properties.text', target: `t${i}`, transforms: ['lowercase', 'sha256'] })) },
      { text: MEGABYTE },
    ],
    [
      '1,000 rows that look through a long list for nothing',
      { mappings: rows(1_000, (i) => ({ source: 'properties.list[*].no', target: `t${i}[*].a` })) },
      { list: LIST },
    ],
    [
      '1,000 rows that flatten 40,000 fields: 0.5 s before fields counted',
      { mappings: rows(1_000, (i) => ({ source: 'properties', target: `t${i}`, transforms: ['flatten'] })) },
      FIELDS,
    ],
    [
      '1,000 texts and hashes of 40,000 fields',
      { mappings: rows(1_000, (i) => ({ source: 'properties', target: `t${i}`, transforms: ['json_stringify', 'sha256'] })) },
      FIELDS,
    ],
    ['three copies of 40,000 fields', { mappings: rows(3, (i) => ({ source: 'properties', target: `t${i}` })) }, FIELDS],
    [
      '40 enrichments that each put an object among 40,000 fields: 2 s before copies counted',
      { enrichments: rows(40, (i) => ({ value: { i }, target: `properties.p${i}` })), mappings: [{ source: 'event', target: 'e' }] },
      FIELDS,
    ],
    [
      'one row that hashes 200,000 numbers',
      { mappings: [{ source: 'properties.list', target: 't', transforms: ['sha256'] }] },
      { list: LIST },
    ],
    ...(
      [
        ['sha256'],
        ['md5'],
        [{ name: 'replace', args: ['.', ''] }],
        ['snake_case'],
        ['digits_only'],
        ['join', 'sha256'],
        ['base64', 'count'],
      ] as JsonObject[][]
    ).map((transforms): [string, JsonObject, JsonObject] => [
      `1,000 rows that read 100 texts of 10,000 characters with ${JSON.stringify(transforms)}`,
      { mappings: rows(1_000, (i) => ({ source: 'properties.list', target: `t${i}`, transforms })) },
      { list: rows(100, () => 'Aé b-c. 12' as never).map((text) => String(text).repeat(1_000)) },
    ]),
    [
      '1,000 lists inside of a list, flattened',
      { mappings: rows(1_000, (i) => ({ source: 'properties.list', target: `t${i}`, transforms: ['flatten', 'count'] })) },
      { list: [LIST] },
    ],
    [
      '1,000 conditions on a long list',
      { mappings: rows(1_000, (i) => ({ value: 1, target: `t${i}`, when: { field: 'properties.list', op: 'contains', value: -1 - i } })) },
      { list: LIST },
    ],
    [
      '1,000 conditions on a long text',
      { mappings: rows(1_000, (i) => ({ value: 1, target: `t${i}`, when: { field: 'properties.text', op: 'contains', value: `${i}` } })) },
      { text: MEGABYTE },
    ],
  ])('%s', (_, entry, properties) => {
    expect(run(entry, properties)).toEqual(TOO_LARGE);
  });

  test('1,000 enrichments or transforms of the payload that write to 10,000 fields copy them once', () => {
    const properties = Object.fromEntries(Object.entries(FIELDS).slice(0, 10_000));
    const enriched = run(
      { enrichments: rows(1_000, (i) => ({ value: 'x', target: `properties.f${i}` })), mappings: [{ source: 'properties', target: 'p' }] },
      properties,
    );
    const transformed = run(
      {
        mappings: [{ source: 'properties', target: 'p' }],
        transforms: rows(1_000, (i) => ({ target: `p.f${i}`, transforms: ['to_string'] })),
      },
      properties,
    );
    for (const result of [enriched, transformed])
      expect(
        result.kind === 'payload' && Object.values((result.payload as { p: JsonObject }).p).filter((value) => typeof value === 'string'),
      ).toHaveLength(1_000);
    expect(properties).toMatchObject({ f0: 0, f999: 999 });
  });

  test.each<[string, JsonObject, unknown]>([
    [
      'names under long names',
      { source: 'properties', target: 'o', transforms: ['flatten'] },
      { ['k'.repeat(10_000)]: Object.fromEntries(LIST.slice(0, 1_000).map((i) => [`n${i}`, i])) },
    ],
    [
      'a long prefix',
      { source: 'properties', target: 'o', transforms: [{ name: 'prefix_keys', args: ['k'.repeat(10_000)] }] },
      Object.fromEntries(LIST.slice(0, 1_000).map((i) => [`n${i}`, i])),
    ],
    [
      'pairs with long names',
      { source: 'properties', target: 'o', transforms: [{ name: 'entries', args: ['k'.repeat(10_000)] }] },
      Object.fromEntries(LIST.slice(0, 1_000).map((i) => [`n${i}`, i])),
    ],
  ])('a transform with more than a million characters of names has no result: %s', (_, row, properties) => {
    expect(run({ mappings: [row, { value: 1, target: 'a' }] }, properties as JsonObject)).toEqual({ kind: 'payload', payload: { a: 1 } });
  });
});

test('a text that would be cut into more than 50,000 parts has no result', () => {
  const cut = (text: string) => run({ mappings: [{ source: 'properties.text', target: 'n', transforms: ['split', 'count'] }] }, { text });
  expect(cut('a,'.repeat(40_000))).toEqual({ kind: 'payload', payload: { n: 40_000 } });
  expect(cut('a,'.repeat(60_000))).toEqual({ kind: 'payload', payload: {} });
});

test('replacements may read 40,000 characters of an event: 80,000 took 70 ms in one step', () => {
  const shorten = (length: number) =>
    run(
      { mappings: [{ source: 'properties.list', target: 't', transforms: [{ name: 'replace', args: ['.', ''] }, 'count'] }] },
      { list: rows(100, () => 'x'.repeat(length) as never) },
    );
  expect(shorten(400)).toEqual({ kind: 'payload', payload: { t: 100 } });
  expect(shorten(800)).toEqual(TOO_LARGE);
});

test('2,000 addresses are normalized and hashed', () => {
  const list = rows(2_000, (i) => `visitor${i}@mail.example` as never);
  const mapped = run({ mappings: [{ source: 'properties.list', target: 't', transforms: ['normalize_email', 'sha256'] }] }, { list });
  expect(mapped).toMatchObject({ kind: 'payload', payload: { t: { length: 2_000 } } });
});

test('the largest event fits: its texts, its lists and its objects, each copied once', () => {
  for (const value of [MEGABYTE, LIST, OBJECTS]) {
    const mapped = run({ mappings: [{ source: '$', target: '$' }] }, { value });
    expect(mapped).toMatchObject({ kind: 'payload', payload: { properties: { value } } });
  }
});

test('an order of 1,000 products with 15 fields fits: 40 rows from the list, and five transforms of the whole list', () => {
  const product = Object.fromEntries(LIST.slice(0, 15).map((i) => [`f${i}`, i]));
  const mappings = [
    ...rows(40, (i) => ({ source: `properties.products[*].f${i % 15}`, target: `products[*].t${i}` })),
    ...rows(5, (i) => ({ source: 'properties.products', target: `count_${i}`, transforms: ['count'] })),
  ];
  expect(run({ mappings }, { products: rows(1_000, () => product) })).toMatchObject({ kind: 'payload', payload: { count_4: 1_000 } });
});

test('a failed event leaves nothing behind: the next one is mapped', () => {
  const mapping = compileMapping({ events: { A: { mappings: rows(1_000, (i) => ({ source: '$', target: `t${i}` })) } } });
  if (!mapping.ok) throw new Error('faults');
  expect(mapping.run(eventWith({ text: MEGABYTE }))).toEqual(TOO_LARGE);
  expect(mapping.run(eventWith({ text: 'x' })).kind).toBe('payload');
});

test('`in` on two long lists compares at most a million pairs', () => {
  const field = { field: 'properties.list', op: 'in', value: LIST.slice(0, 10_000).map((i) => -1 - i) };
  expect(run({ filter: { not: field }, mappings: [{ value: 1, target: 'a' }] }, { list: LIST })).toMatchObject({ payload: { a: 1 } });
});

describe('requests of one event', () => {
  const definition = {
    ...({ key: 'custom_http', name: 'Custom', category: 'custom', default_action: 'pass_through', config_fields: [] } as object),
    authored_requests: true,
    requests: [],
  } as unknown as VendorDefinition;
  test.each([
    ['every item of a list repeats the event', { items: 'properties.list', shape: { all: { $ref: 'event.properties' } } }],
    ['a shape that names the event a thousand times', { shape: { list: rows(1_000, () => ({ $ref: 'event.properties' })) } }],
    ['a shape with the event as text, a thousand times', { shape: { list: rows(1_000, () => ({ $json: 'event.properties' })) } }],
    ['a text with the event, a thousand times', { shape: { text: '{{event.properties}}'.repeat(1_000) } }],
  ])('larger than 16 MB together fail it: %s', (_, request) => {
    const compiled = compileVendor(definition, { request: { url: 'https://a.example/', ...request } } as JsonObject, {
      mode: 'development',
      allow_private: true,
    });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled));
    const built = compiled.vendor.build(eventWith({ list: LIST.slice(0, 1_000), text: 'x'.repeat(500_000) }), { now: 0 });
    expect(built).toEqual({ kind: 'failed', reason: 'payload_too_large: the requests of this event are larger than 16 MB together' });
  });
});
