import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileRules } from './rules.ts';

const event: CanonicalEvent = {
  event_id: 'e1',
  type: 'track',
  event: 'Order Completed',
  timestamp: '2024-05-01T12:00:00.000Z',
  context: { ip: '1.2.3.4' },
  properties: {
    total: '42.5',
    currency: 'eur',
    products: [
      { id: 1, price: 5 },
      { id: 2, price: 6 },
    ],
  },
};

function run(...rules: unknown[]): unknown {
  const compiled = compileRules(rules);
  if (!compiled.ok) return compiled.faults.map((fault) => fault.field);
  const before = structuredClone(event);
  const result = compiled.apply(event);
  expect(event).toEqual(before);
  return result.kind === 'event' ? result : result.kind;
}

describe('each rule', () => {
  test.each<[string, unknown, unknown, string[]]>([
    ['set', { type: 'set', target: 'properties.source', value: { a: 1 } }, { properties: { source: { a: 1 } } }, ['properties.source']],
    ['set the name', { type: 'set', target: 'event', value: 'Purchase' }, { event: 'Purchase' }, ['event']],
    [
      'rename',
      { type: 'rename', source: 'properties.total', target: 'properties.value' },
      { properties: { value: '42.5' } },
      ['properties.value'],
    ],
    ['rename what is missing', { type: 'rename', source: 'properties.x', target: 'properties.y' }, event, []],
    [
      'delete',
      { type: 'delete', target: 'properties.products[*].price' },
      { properties: { products: [{ id: 1 }, { id: 2 }] } },
      ['properties.products[*].price'],
    ],
    ['delete what is missing', { type: 'delete', target: 'traits.email' }, event, []],
    [
      'map',
      { type: 'map', source: 'properties.total', target: 'properties.value', transforms: ['to_number'] },
      { properties: { value: 42.5 } },
      ['properties.value'],
    ],
    [
      'map with a value map',
      { type: 'map', source: 'properties.currency', target: 'properties.c', value_map: { eur: 'EUR' } },
      { properties: { c: 'EUR' } },
      ['properties.c'],
    ],
    [
      'map with a default',
      { type: 'map', source: ['properties.x', 'properties.y'], target: 'properties.c', default: 1 },
      { properties: { c: 1 } },
      ['properties.c'],
    ],
    [
      'compute',
      { type: 'compute', target: 'properties.net', expression: 'round(properties.total / 1.19, 2)' },
      { properties: { net: 35.71 } },
      ['properties.net'],
    ],
    ['compute nothing', { type: 'compute', target: 'properties.net', expression: 'properties.x * 2' }, event, []],
    [
      'condition holds',
      { type: 'set', target: 'properties.a', value: 1, condition: { field: 'type', op: 'eq', value: 'track' } },
      { properties: { a: 1 } },
      ['properties.a'],
    ],
    [
      'condition does not',
      { type: 'set', target: 'properties.a', value: 1, condition: { field: 'type', op: 'eq', value: 'page' } },
      event,
      [],
    ],
    ['filter keeps', { type: 'filter', condition: { field: 'properties.total', op: 'gt', value: 1 } }, event, []],
  ])('%s', (_name, rule, expected, changed) => expect(run(rule)).toMatchObject({ kind: 'event', event: expected, changed }));
  test('a rename leaves no old name', () => {
    expect(run({ type: 'rename', source: 'properties.total', target: 'total' })).not.toHaveProperty('event.properties.total');
  });
  test('filter drops', () => {
    expect(run({ type: 'filter', condition: { field: 'properties.total', op: 'gt', value: 100 } })).toBe('dropped');
  });
  test('rules see the result of earlier rules', () => {
    const rules = [
      { type: 'set', target: 'properties.total', value: 1 },
      { type: 'compute', target: 'properties.total', expression: 'properties.total + 1' },
      { type: 'filter', condition: { field: 'properties.total', op: 'eq', value: 2 } },
    ];
    expect(run(...rules)).toMatchObject({ kind: 'event', changed: ['properties.total', 'properties.total'] });
  });
});

test.each<[unknown, string]>([
  [{ type: 'drop' }, 'rules[0].type'],
  [7, 'rules[0].type'],
  [{ type: 'set', target: 'a' }, 'rules[0].value'],
  [{ type: 'set', target: 'a[', value: 1 }, 'rules[0].target'],
  [{ type: 'set', target: 'a', value: 1, when: {} }, 'rules[0].when'],
  [{ type: 'filter' }, 'rules[0].condition'],
  [{ type: 'compute', target: 'a', expression: '1 +' }, 'rules[0].expression'],
  [{ type: 'map', source: 'a', target: 'b', transforms: ['x'] }, 'rules[0].transforms[0]'],
  [{ type: 'map', target: 'b' }, 'rules[0].source'],
  [{ type: 'set', target: 'event_id', value: 1 }, 'rules[0].target'],
  [{ type: 'set', target: 'type', value: 'x' }, 'rules[0].target'],
  [{ type: 'delete', target: 'timestamp' }, 'rules[0].target'],
  [{ type: 'rename', source: 'context', target: 'c' }, 'rules[0].source'],
])('%j is refused', (rule, field) => expect(run(rule)).toContain(field));

test('no rules or event throw or modify the input', () => {
  const path = fc.constantFrom('properties.a', 'properties.b[*].c', '__proto__.x', 'constructor.prototype.x', 'properties[2]', 'traits');
  const rule = fc.oneof(
    fc.record({ type: fc.constant('set'), target: path, value: fc.jsonValue() }),
    fc.record({ type: fc.constant('rename'), source: path, target: path }),
    fc.record({ type: fc.constant('delete'), target: path }),
    fc.record({ type: fc.constant('map'), source: path, target: path, transforms: fc.constantFrom(['trim'], ['sum'], ['flatten']) }),
    fc.record({ type: fc.constant('compute'), target: path, expression: fc.constantFrom('properties.a + 1', 'count(properties.b[*].c)') }),
  );
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 6 }), fc.jsonValue(), (rules, properties) => {
      const compiled = compileRules(rules);
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
      const given = { ...event, properties } as unknown as CanonicalEvent;
      const before = JSON.stringify(given);
      const first = JSON.stringify(compiled.apply(given));
      expect(JSON.stringify(compiled.apply(given))).toBe(first);
      expect(JSON.stringify(given)).toBe(before);
      // Rules copy what they write to once per large event, and at every write of a small one.
      const large = { ...given, context: { ...given.context, padding: 'x'.repeat(3_000) } };
      const result = compiled.apply(large);
      if (result.kind === 'event') delete (result.event.context as { padding?: string }).padding;
      expect(JSON.stringify(result)).toBe(first);
      expect(JSON.stringify(given)).toBe(before);
    }),
  );
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

test('500 rules that each write to 40,000 fields copy them once: they held the loop for 20 s', () => {
  const fields = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`f${i}`, i]));
  const compiled = compileRules(Array.from({ length: 500 }, (_, i) => ({ type: 'set', target: `properties.f${i}`, value: 'x' })));
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const given = { ...event, properties: fields } as unknown as CanonicalEvent;
  const result = compiled.apply(given);
  expect(result.kind === 'event' && Object.values(result.event.properties ?? {}).filter((value) => value === 'x')).toHaveLength(500);
  expect(Object.values(fields)).not.toContain('x');
});
test('500 rules that each remove one of 40,000 fields, or put an object there, are more than an event may take', () => {
  const fields = Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`f${i}`, i]));
  for (const rule of [{ type: 'delete' }, { type: 'set', value: {} }]) {
    const compiled = compileRules(Array.from({ length: 500 }, (_, i) => ({ ...rule, target: `properties.f${i}` })));
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
    expect(compiled.apply({ ...event, properties: fields } as unknown as CanonicalEvent)).toMatchObject({ kind: 'failed' });
  }
});

test.each([
  ['rename', { type: 'rename', source: 'properties', target: `properties${'.a'.repeat(60)}` }],
  ['map', { type: 'map', source: 'properties', target: 'properties.a[0]' }],
])('500 rules that %s the event into a part of it nest it 64 levels deep: no JSON could be written', (_name, rule) => {
  const compiled = compileRules(new Array(500).fill(rule));
  const result = compiled.ok ? compiled.apply({ ...event, properties: { a: 1 } }) : undefined;
  if (result?.kind !== 'event') throw new Error(JSON.stringify(result));
  let depth = 0;
  for (let value: unknown = result.event; typeof value === 'object' && value !== null; depth++)
    value = Object.values(value).find((inner) => typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0) ?? 0;
  expect(depth).toBeLessThanOrEqual(64);
});

describe('rules that read too much of a large event fail it', () => {
  const list = Array.from({ length: 40_000 }, (_, i) => ({ i }));
  const properties = {
    list,
    numbers: list.map(({ i }) => i),
    texts: list.slice(0, 900).map(() => 'y'.repeat(1_000)),
    text: 'x'.repeat(900_000),
  };
  const large = { ...event, properties } as unknown as CanonicalEvent;
  const often = (condition: object) => ({
    type: 'set',
    target: 'properties.a',
    value: 1,
    condition: { any: new Array(20).fill(condition) },
  });
  const sum = (call: string) => new Array(30).fill(call).join(' + ');
  test.each<[string, object]>([
    ['set in every element: 500 rules took 20 s', { type: 'set', target: 'properties.list[*].a', value: 1 }],
    ['delete in every element', { type: 'delete', target: 'properties.list[*].missing' }],
    ['delete deeper in every element', { type: 'delete', target: 'properties.list[*].a.b' }],
    ['a list as a whole compared with a text', often({ field: 'properties.numbers', op: 'starts_with', value: 'y' })],
    ['a list as a whole compared with a number', often({ field: 'properties.numbers', op: 'lt', value: -1 })],
    ...[
      'starts_with(properties.text, properties.text) ? 1 : 0',
      'ends_with(properties.text, properties.text) ? 1 : 0',
      'length(lower(properties.text))',
      'length(upper(properties.text))',
      'length(trim(properties.text))',
      'length(concat(properties.text, "a"))',
      'length(join(properties.texts, ","))',
      'contains(properties.text, "xy") ? 1 : 0',
      'contains(properties.numbers, -1) ? 1 : 0',
      'count(properties.numbers)',
      'sum(properties.numbers)',
      'max(properties.numbers)',
      'min(properties.numbers)',
    ].map((call): [string, object] => [call, { type: 'compute', target: 'properties.a', expression: sum(`(${call})`) }]),
  ])('%s', (_name, rule) => {
    const compiled = compileRules(new Array(200).fill(rule));
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
    expect(compiled.apply(large), 'took up to 20 s').toEqual({ kind: 'failed', reason: 'the rules read more than 8 MB of the event' });
  });
  test('a few are no problem', () => {
    const expression = 'length(lower(properties.text)) + count(properties.numbers) + length(properties.text)';
    const compiled = compileRules([{ type: 'compute', target: 'properties.a', expression }]);
    expect(compiled.ok && compiled.apply(large)).toMatchObject({ event: { properties: { a: 900_000 + 40_000 + 900_000 } } });
  });
});

describe('rules that make an event grow without end fail it', () => {
  const double = { type: 'compute', target: 'properties.a', expression: 'properties.a + properties.a' };
  const nest = { type: 'map', source: 'properties', target: 'properties.a' };
  const many = (rule: object, times: number) => new Array(times).fill(rule);
  test.each<[string, unknown[]]>([
    [
      'every rule copies all properties into them',
      [{ type: 'set', target: 'properties.text', value: 'x'.repeat(100) }, ...many(nest, 100)],
    ],
    [
      'a text in each element of a list: 40,000 of 100 KB were more than a text of JSON can be',
      [{ type: 'set', target: 'properties.many[*].a', value: 'x'.repeat(10_000) }],
    ],
    [
      'lists that are filled with nulls',
      Array.from({ length: 500 }, (_, i) => ({ type: 'set', target: `properties.l${i}[9999]`, value: 1 })),
    ],
    ['a long text in many places', many({ type: 'map', source: 'properties.big', target: 'properties.a' }, 500)],
  ])('%s', (_name, rules) => {
    const compiled = compileRules(rules);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
    const list = Array.from({ length: 1_000 }, () => ({}));
    const large = { ...event, properties: { ...event.properties, big: 'x'.repeat(100_000), list, many: [...list] } };
    expect(compiled.apply(large)).toEqual({ kind: 'failed', reason: 'the event became larger than 4 MB' });
  });

  test.each<[string, unknown[]]>([
    ['a text that doubles', many(double, 30)],
    [
      'concat',
      many({ type: 'compute', target: 'properties.a', expression: `concat(${new Array(50).fill('properties.a').join(', ')})` }, 6),
    ],
    ['join', [{ type: 'compute', target: 'properties.a', expression: 'join(properties.list, properties.big)' }]],
    ['JSON in JSON', [{ type: 'map', source: 'properties.a', target: 'properties.a', transforms: new Array(30).fill('json_stringify') }]],
    [
      'replace',
      [
        {
          type: 'map',
          source: 'properties.big',
          target: 'properties.a',
          transforms: [{ name: 'replace', args: ['x', 'y'.repeat(10_000)] }],
        },
      ],
    ],
  ])('%s: the last text that fits stays', (_name, rules) => {
    const compiled = compileRules([{ type: 'set', target: 'properties.a', value: '"0123456789' }, ...rules]);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
    const big = 'x'.repeat(100_000);
    const result = compiled.apply({ ...event, properties: { ...event.properties, big, list: new Array(1_000).fill('a') } });
    const text = result.kind === 'event' ? result.event.properties?.a : undefined;
    expect(String(text).length).toBeLessThanOrEqual(1_048_576);
  });
});
