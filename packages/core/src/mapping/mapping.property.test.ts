import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import { TRANSFORMS } from '../transforms/index.ts';
import { compileMapping } from './mapping.ts';

const name = fc.constantFrom('a', 'b', 'list', '__proto__', 'constructor', 'prototype', 'toString', 'length');
const step = fc.oneof(
  { weight: 4, arbitrary: name.map((key) => `.${key}`) },
  { weight: 2, arbitrary: fc.constant('[*]') },
  { weight: 1, arbitrary: fc.constant('[1]') },
);
const source = fc.array(step, { maxLength: 4 }).map((steps) => `properties${steps.join('')}`);
const target = fc.tuple(name, fc.array(step, { maxLength: 3 })).map(([first, steps]) => `${first}${steps.join('')}`);
const withoutArgs = [...TRANSFORMS.values()]
  .filter(({ args }) => args.every((arg) => arg.default !== undefined))
  .map((transform) => transform.name);
const extras = fc.record(
  {
    transforms: fc.array(fc.constantFrom(...withoutArgs), { maxLength: 3 }),
    value_map: fc.constantFrom({ a: 1, '*': { deep: [1] } }, {}),
    default: fc.jsonValue(),
    required: fc.boolean(),
    when: fc.constantFrom({ field: 'properties.a', op: 'exists' }, { field: 'properties.list[*].a', op: 'gt', value: 1 }),
  },
  { requiredKeys: [] },
);
const origin = fc.oneof(
  source.map((path) => ({ source: path })),
  fc.array(source, { minLength: 1, maxLength: 3 }).map((paths) => ({ source: paths })),
  fc.jsonValue().map((value) => ({ value })),
  fc.constantFrom({ template: '{{properties.a}}-{{#each properties.list}}{{a}}{{/each}}' }, { template: '{{json properties}}' }),
);
const mapping = fc.tuple(origin, target, extras).map(([from, to, more]) => ({ ...from, target: to, ...more }));
const inner: fc.Arbitrary<unknown> = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('a', 1, null, '2024-05-01T12:00:00Z'));
const tree = fc.dictionary(
  name,
  fc.oneof(inner, fc.array(fc.dictionary(name, inner), { maxLength: 4 }), fc.dictionary(name, fc.dictionary(name, inner))),
  { maxKeys: 5 },
);

test('no mapping throws on any event, none changes its event or a prototype, and each gives the same twice', () => {
  const prototype = Object.getOwnPropertyNames(Object.prototype).sort();
  let ran = 0;
  fc.assert(
    fc.property(fc.array(mapping, { maxLength: 8 }), tree, (mappings, properties) => {
      const config = {
        events: { E: { enrichments: mappings.slice(0, 2), mappings, transforms: [{ target: 'a', transforms: ['lowercase'] }] } },
      };
      const compiled = compileMapping(config);
      if (!compiled.ok) {
        // Targets made by chance collide: that is the one fault these configurations may have.
        expect(compiled.faults.every((fault) => fault.message.startsWith('This target is a list'))).toBe(true);
        return;
      }
      ran += 1;
      const event = { event_id: 'e', type: 'track', event: 'E', timestamp: 't', context: {}, properties } as unknown as CanonicalEvent;
      const before = JSON.stringify([event, config]);
      const first = compiled.run(event);
      const text = JSON.stringify(first);
      expect(JSON.stringify(compiled.run(event))).toBe(text);
      scribble(first);
      expect(JSON.stringify([event, config])).toBe(before);
      expect(JSON.stringify(compiled.run(event))).toBe(text);
    }),
    { numRuns: 1_000 },
  );
  expect(ran).toBeGreaterThan(300);
  expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(prototype);
});

/** Writes into every part of a payload, as a vendor's limits do: nothing of it may belong to the event or the configuration. */
function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  for (const one of Object.values(value)) scribble(one);
  (value as Record<string, unknown>).scribble = true;
}

test('any configuration compiles or is refused with paths', () => {
  const section = fc.oneof(fc.jsonValue(), fc.record({ mappings: fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.jsonValue(), mapping))) }));
  const config = fc.record(
    {
      version: fc.constantFrom(1, 2, 3, undefined),
      global: section,
      events: fc.dictionary(fc.string(), section),
      defaults: section,
      steps: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(config, (one) => {
      const compiled = compileMapping(one);
      if (!compiled.ok) for (const fault of compiled.faults) expect(fault.message).not.toBe('');
    }),
    { numRuns: 500 },
  );
});

test('lists are mapped equally with and without a generated copier', () => {
  const fields = Array.from({ length: 400 }, (_, i) => `field_${i}`);
  const product = Object.fromEntries(fields.map((field, i) => [field, i % 3 === 0 ? null : i % 5 === 0 ? { i } : i]));
  const event = {
    event_id: 'e',
    type: 'track',
    event: 'E',
    timestamp: 't',
    context: {},
    properties: { products: [product, {}, 7, { field_1: 'x' }] },
  } as unknown as CanonicalEvent;
  // More sets of names than there are copiers: the last ones are done in a loop.
  for (let i = 0; i + 5 < fields.length; i += 5) {
    const five = fields.slice(i, i + 5);
    const compiled = compileMapping({
      events: { E: { mappings: five.map((field) => ({ source: `properties.products[*].${field}`, target: `items[*].to_${field}` })) } },
    });
    const expectItem = (item: Record<string, unknown>) =>
      Object.fromEntries(
        five.filter((field) => item[field] !== undefined && item[field] !== null).map((field) => [`to_${field}`, item[field]]),
      );
    const result = compiled.ok ? compiled.run(event) : compiled;
    expect(result).toEqual({ kind: 'payload', payload: { items: [expectItem(product), {}, {}, expectItem({ field_1: 'x' })] } });
  }
});
