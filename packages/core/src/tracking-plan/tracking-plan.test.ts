import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import type { JsonObject } from '../json.ts';
import type { Decision } from '../outcome/outcome.ts';
import { finish } from '../steps.ts';
import { compileSchema, compileSchemaInSteps, type Violation } from './schema.ts';
import { applyTrackingPlan, compileTrackingPlan, validateTrackingPlanInSteps } from './tracking-plan.ts';

const validate = (plan: unknown) => finish(validateTrackingPlanInSteps(plan));

function check(schema: unknown, value: unknown): string[] {
  const compiled = compileSchema(schema, 's');
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const violations: Violation[] = [];
  compiled.validate(value, 'properties', violations);
  return violations.map(({ path, message }) => `${path} ${message}`);
}

describe('schemas', () => {
  const order = {
    type: 'object',
    required: ['total'],
    properties: { total: { type: 'number', minimum: 0 }, currency: { type: 'string', pattern: '^[A-Z]{3}$' } },
    additionalProperties: false,
  };
  const tree = {
    $defs: { node: { type: 'object', properties: { value: { type: 'integer' }, next: { $ref: '#/$defs/node' } } } },
    $ref: '#/$defs/node',
  };
  const cases: [name: string, schema: unknown, value: unknown, violations: string[]][] = [
    ['a good order', order, { total: 5, currency: 'EUR' }, []],
    [
      'several faults',
      order,
      { currency: 'eur', x: 1 },
      ['properties.total is required', 'properties.currency must match ^[A-Z]{3}$', 'properties.x is not allowed'],
    ],
    [
      'lists',
      { properties: { items: { type: 'array', minItems: 1, items: { required: ['id'] } } } },
      { items: [{ id: 1 }, {}] },
      ['properties.items[1].id is required'],
    ],
    ['several types', { properties: { a: { type: ['string', 'null'] } } }, { a: 5 }, ['properties.a must be string or null']],
    ['references', tree, { value: 1, next: { value: 'x' } }, ['properties.next.value must be integer']],
    [
      'anchors',
      { properties: { a: { $ref: '#price' } }, $defs: { p: { $anchor: 'price', minimum: 5 } } },
      { a: 1 },
      ['properties.a must be at least 5'],
    ],
    [
      'formats',
      { properties: { at: { format: 'date-time' }, who: { format: 'email' } } },
      { at: 'yesterday', who: 'nobody' },
      ['properties.at must be a valid date-time', 'properties.who must be a valid email'],
    ],
    [
      'if',
      JSON.parse('{"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}}'),
      { k: 2 },
      ['properties.b is required'],
    ],
    ['cents', { multipleOf: 0.01 }, 19.99, []],
    ['true', true, 5, []],
    ['false', false, 5, ['properties is not allowed']],
  ];
  test.each(cases)('%s', (_name, schema, value, violations) => expect(check(schema, value)).toEqual(violations));

  const bad: [schema: unknown, field: string][] = [
    [5, 's'],
    [{ type: 'strin' }, 's.type'],
    [{ properties: 5 }, 's.properties'],
    [{ properties: { a: { minimum: 'x' } } }, 's.properties.a.minimum'],
    [{ pattern: '(' }, 's.pattern'],
    [{ pattern: '(?=a)' }, 's.pattern'],
    [{ requierd: ['a'] }, 's.requierd'],
    [{ $ref: 'https://x.example/schema' }, 's.$ref'],
    [{ $ref: '#/$defs/none' }, 's.$ref'],
    [{ $ref: '#' }, 's'],
    [{ allOf: [{ $ref: '#' }, { $ref: '#' }] }, 's'],
    [{ unevaluatedProperties: false }, 's.unevaluatedProperties'],
    [{ $dynamicRef: '#x' }, 's.$dynamicRef'],
    [{ properties: { a: { maxlength: 3 } } }, 's.properties.a.maxlength'],
    [{ item: {} }, 's.item'],
    [{ additionalPropertys: false }, 's.additionalPropertys'],
    [{ enum: [] }, 's.enum'],
    [{ anyOf: {} }, 's.anyOf'],
  ];
  test.each(bad)('%j is refused', (schema, field) => {
    const compiled = compileSchema(schema, 's');
    expect(compiled.ok ? [] : compiled.faults.map((fault) => fault.field)).toContain(field);
  });

  test.each([
    ['maxlength', 'maxLength'],
    ['maxitems', 'maxItems'],
    ['exclusivemaximum', 'exclusiveMaximum'],
    ['requierd', 'required'],
  ])('%s is refused with the keyword that resembles it most', (keyword, meant) => {
    const compiled = compileSchema({ [keyword]: 3 }, 's');
    expect(compiled.ok ? [] : compiled.faults.map((fault) => fault.message)).toEqual([expect.stringContaining(`did you mean ${meant}?`)]);
  });

  test('an unknown keyword that no keyword resembles is an annotation, as the standard says', () => {
    const annotated = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $comment: 'c',
      title: 't',
      examples: [{ total: 1 }],
      'x-owner': 'growth',
      note: 'n',
      tsType: 'Order',
      'ui:order': ['total'],
      constructor: 1,
      properties: { total: { type: 'number', unit: 'EUR', pii: false } },
    };
    expect(check(annotated, { total: 1 })).toEqual([]);
    expect(check(annotated, { total: '1' })).toHaveLength(1);
  });
  test('too many different unknown keywords are refused', () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`note${i}`, i]));
    expect(compileSchema(many, 's').ok).toBe(false);
  });

  test('a large schema is compiled in steps, and checks what a small one would', () => {
    const types = Array.from({ length: 3_000 }, (_, n) => [`p${n}`, n % 2 === 0 ? { type: 'number' } : { $ref: '#/properties/p0' }]);
    const steps = compileSchemaInSteps({ properties: Object.fromEntries(types), additionalProperties: false }, 's');
    let yields = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) yields += 1;
    expect(yields).toBe(6);
    if (!step.value.ok) throw new Error(JSON.stringify(step.value.faults));
    const violations: Violation[] = [];
    step.value.validate({ p0: 1, p1: 'a', p2: 'b', p2999: 1, other: 1 }, 'properties', violations);
    expect(violations.map(({ path }) => path)).toEqual(['properties.p1', 'properties.p2', 'properties.other']);
    const wrong = Object.fromEntries([...types, ['last', { type: 'nothing' }]]);
    expect(validate({ events: { A: { properties: wrong } } })).toEqual(validate({ events: { A: { properties: { last: wrong.last } } } }));
  });

  test('a schema that explodes is bounded', () => {
    const $defs: JsonObject = { a0: { type: 'object' } };
    for (let i = 1; i < 40; i++) $defs[`a${i}`] = { allOf: [{ $ref: `#/$defs/a${i - 1}` }, { $ref: `#/$defs/a${i - 1}` }] };
    expect(compileSchema({ $ref: '#/$defs/a39', $defs }, 's').ok).toBe(false);
  });

  const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
  const wide = Object.fromEntries(times(50_000, (i) => [`a${i}`, i]));
  const list = { l: times(20_000, (i) => i) };
  const text = { t: 'é'.repeat(1_000_000) };
  const alike = { l: times(200, (z) => ({ ...Object.fromEntries(times(249, (i) => [`k${i}`, 1])), z })) };
  const inside = (name: string, schema: JsonObject) => ({ properties: { [name]: schema } });
  test.each<[string, JsonObject, unknown]>([
    ['additionalProperties', { additionalProperties: true }, wide],
    ['propertyNames', { propertyNames: true }, wide],
    ['patternProperties', { patternProperties: { '^a': true } }, wide],
    ['items', inside('l', { items: true }), list],
    ['prefixItems', inside('l', { prefixItems: [true] }), list],
    ['contains', inside('l', { contains: true }), list],
    ['uniqueItems', inside('l', { uniqueItems: true }), list],
    ['uniqueItems of objects', inside('l', { uniqueItems: true }), alike],
    ['maxLength', inside('t', { maxLength: 700_000 }), text],
    ['pattern', inside('t', { pattern: '^é+$' }), text],
  ])('%s, asked for three thousand times, is bounded (an event took up to 93 s)', (_, schema, value) => {
    expect(check({ allOf: times(3_000, () => schema) }, value)).toContain('properties is too much work to check');
  });
  test.each<[string, JsonObject]>([
    ['minProperties', { minProperties: 1 }],
    ['const', { not: { const: {} } }],
  ])('%s, asked for three thousand times, is no work', (_, schema) => {
    expect(check({ allOf: times(3_000, () => schema) }, wide)).toEqual([]);
  });
  test('one look at each part of the largest events fits into the budget', () => {
    const one = { additionalProperties: { type: 'integer' }, minProperties: 1, maxProperties: 100_000 };
    expect(
      check({ ...one, additionalProperties: true, propertyNames: true }, Object.fromEntries(Object.entries(wide).slice(0, 9_000))),
    ).toEqual([]);
    expect(check(one, Object.fromEntries(Object.entries(wide).slice(0, 15_000)))).toEqual([]);
    expect(check(inside('t', { maxLength: 1_000_000, minLength: 1, format: 'json-pointer' }), text)).toHaveLength(1);
  });
  test('violations of a large plan come in its order, and each of equal properties has its own path and faults', () => {
    const properties = Object.fromEntries(times(100, (i) => [`p${i}`, { type: 'string', description: `number ${i}` }]));
    const found = check({ properties }, { p70: 1, other: 1, p3: 2, p12: 'a' });
    expect(found).toEqual(['properties.p3 must be string', 'properties.p70 must be string']);
    const wrong = compileSchema({ properties: { a: { type: 'nothing' }, b: { type: 'nothing' } } }, 's');
    expect(wrong.ok ? [] : wrong.faults.map(({ field }) => field)).toEqual(['s.properties.a.type', 's.properties.b.type']);
  });

  /** The reference implementation, which generates code and is for tests only. */
  test('agrees with Ajv on random schemas and values', () => {
    const ajv = new Ajv2020.default({ strict: false, allErrors: false });
    addFormats.default(ajv);
    const key = fc.constantFrom('a', 'b', 'c');
    const leaf = fc.oneof(
      fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array') }),
      fc.record({ minimum: fc.integer({ min: -3, max: 3 }) }),
      fc.record({ exclusiveMaximum: fc.integer({ min: -3, max: 3 }) }),
      fc.record({ minLength: fc.nat(3) }),
      fc.record({ maxLength: fc.nat(3) }),
      fc.record({ enum: fc.uniqueArray(fc.oneof(fc.nat(2), fc.constantFrom('x', 'y', null, true)), { minLength: 1 }) }),
      fc.record({ const: fc.constantFrom(1, 'x', null, [1], { a: 1 }) }),
      fc.record({ required: fc.uniqueArray(key) }),
      fc.record({ uniqueItems: fc.boolean() }),
      fc.record({ minItems: fc.nat(2) }),
      fc.record({ maxProperties: fc.nat(2) }),
      fc.record({ pattern: fc.constantFrom('^x', 'y$', '[0-9]+') }),
      fc.record({ format: fc.constantFrom('date', 'email', 'uuid', 'ipv4') }),
      fc.record({ dependentRequired: fc.dictionary(key, fc.uniqueArray(key)) }),
      fc.boolean(),
    );
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        leaf,
        fc.record({ properties: fc.dictionary(key, tie('schema')), additionalProperties: tie('schema') }),
        fc.record({ patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), tie('schema')) }),
        fc.record({ items: tie('schema') }),
        fc.record({ contains: tie('schema') }),
        fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ not: tie('schema') }),
        fc.record({ propertyNames: tie('schema') }),
        fc.record(Object.fromEntries(['if', 'then', 'else'].map((part) => [part, tie('schema')]))),
      ),
    }));
    const text = fc.constantFrom('', 'x', 'xy', 'xyz', '12', '2024-02-30', '2024-02-29', 'a@b.example', '1.2.3.4', '💚');
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer({ min: -4, max: 4 }),
        fc.constantFrom(0.5, true, false, null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(schema, value, (one, given) => {
        expect(check(one, given).length === 0).toBe(ajv.validate(one as object, given));
      }),
      { numRuns: 600 },
    );
  });
});

describe('a plan', () => {
  const events = { 'Order Completed': { required: ['total'] }, '@identify': { required: ['email'] }, '@page': { required: ['url'] } };
  const event = (over: Partial<CanonicalEvent>): CanonicalEvent => ({
    event_id: 'e',
    type: 'track',
    event: 'Order Completed',
    timestamp: '',
    context: {},
    ...over,
  });
  const cases: [name: string, on: 'allow' | 'flag' | 'drop', event: CanonicalEvent, dropped: string | undefined, violations: unknown][] = [
    ['fits', 'drop', event({ properties: { total: 1 } }), undefined, undefined],
    ['dropped', 'drop', event({ properties: {} }), 'tracking_plan', undefined],
    ['flagged', 'flag', event({}), undefined, [{ path: 'properties.total', message: 'is required' }]],
    ['allowed', 'allow', event({}), undefined, undefined],
    ['not in the plan', 'drop', event({ event: 'Other' }), undefined, undefined],
    [
      'an identify, on its traits',
      'flag',
      event({ type: 'identify', traits: {} }),
      undefined,
      [{ path: 'traits.email', message: 'is required' }],
    ],
    ['a page', 'drop', event({ type: 'page', properties: { url: 'x' } }), undefined, undefined],
  ];
  test.each(cases)('%s', (_name, on_violation, one, dropped, violations) => {
    const decisions: Decision[] = [];
    expect(applyTrackingPlan(one, compileTrackingPlan({ events, on_violation }).plan, decisions)).toBe(dropped);
    expect(one.context.violations).toEqual(violations);
  });
  test('validation names the place', () => {
    expect(validate({ events: { A: { type: 'x' } }, on_violation: 'stop', other: 1 }).map(({ field }) => field)).toEqual([
      'other',
      'on_violation',
      'events.A.type',
    ]);
    expect(validate(5)).toHaveLength(1);
    expect(validate({ events, on_violation: 'flag' })).toEqual([]);
  });
  test('one broken schema turns off that event only', () => {
    const { plan, faults } = compileTrackingPlan({ events: { A: { type: 'x' }, B: { required: ['x'] } }, on_violation: 'drop' });
    expect(faults).toHaveLength(1);
    expect(applyTrackingPlan(event({ event: 'A' }), plan, [])).toBeUndefined();
    expect(applyTrackingPlan(event({ event: 'B' }), plan, [])).toBe('tracking_plan');
  });
});
