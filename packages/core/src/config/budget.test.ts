import { expect, test } from 'vitest';
import { addCost, measureConfiguration, measureInSteps, NO_COST, ORGANISATION_BUDGET, organisationExcess, pieceCost } from './budget.ts';

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const properties = Object.fromEntries(many(3_000, (i) => [`p${i}`, { type: 'string', pattern: `^[a-z]{${1 + (i % 900)}}$` }]));
const valueMap = Object.fromEntries(many(50_000, (i) => [`k${i}`, 'v']));

test.each([
  ['3,000 patterns in a tracking plan', { events: { E: { properties } } }, 'pattern_steps'],
  ['500 matches filters', { any: many(500, (i) => ({ field: 'a', op: 'matches', value: `^[a-z]{${i + 1}}$` })) }, 'pattern_steps'],
  ['patterns as names', { patternProperties: Object.fromEntries(many(900, (i) => [`^x{${i}}`, true])) }, 'pattern_steps'],
  ['patterns for bots', { custom_patterns: many(100, () => '\\p{L}{20}') }, 'pattern_steps'],
  ['patterns of transforms', many(900, (i) => ({ name: 'replace', args: [`x{${i}}`, ''] })), 'pattern_steps'],
  ['a value map of 50,000 keys', { value_map: valueMap }, 'values'],
  ['a list without end', many(100_000, () => 1), 'values'],
  [
    '15,000 entries with 1,000 global mappings, which took 7 GB to compile',
    {
      global: { mappings: many(1_000, (i) => ({ source: `a${i}`, target: `b${i}` })) },
      events: Object.fromEntries(many(300, (n) => [`E${n}`, many(50, () => ({}))])),
    },
    'target_parts',
  ],
  ['texts without end', many(10, () => 'x'.repeat(600_000)), 'characters'],
  ['names without end', Object.fromEntries(many(10, (i) => ['x'.repeat(600_000 + i), 1])), 'characters'],
  ['7,000 blocks', { payload_template: '{{#if a}}'.repeat(7_000) }, 'template_tags'],
])('%s', (_name, document, budget) => {
  expect(measureConfiguration(document)).toMatchObject({ ok: false, budget, message: expect.stringContaining(budget) });
});

test('an ordinary configuration fits, and its patterns are listed', () => {
  const filter = {
    all: [
      { field: 'properties.sku', op: 'matches', value: '^A' },
      { field: 'event', op: 'eq', value: '^B' },
    ],
  };
  const document = { filter, bots: { custom_patterns: ['crawl'] }, mappings: many(500, (i) => ({ source: `a${i}`, target: '{{b}}' })) };
  expect(measureConfiguration(document)).toEqual({
    ok: true,
    cost: { values: 1_514, pattern_steps: expect.any(Number), template_tags: 500, target_parts: 0, characters: expect.any(Number) },
    patterns: [
      { pattern: '^A', any_case: false },
      { pattern: 'crawl', any_case: true },
    ],
  });
});

test('parts of targets: those of an entry once, those of global for each entry and for the defaults', () => {
  const entry = (...targets: string[]) => ({ mappings: targets.map((target) => ({ source: 'a', target })) });
  const config = { global: entry('a.b', 'c'), events: { E: entry('d[0].e'), F: [entry(), entry('g')] }, defaults: {} };
  expect(measureConfiguration({ config })).toMatchObject({ cost: { target_parts: 4 * 3 + 3 + 1 } });
});

test.each(Object.entries(ORGANISATION_BUDGET))('an organisation may have %s up to %d, and not one more', (budget, most) => {
  const part = budget.replace('organisation_', '') as keyof typeof NO_COST;
  expect(organisationExcess({ ...NO_COST, [part]: most })).toBe(undefined);
  expect(organisationExcess({ ...NO_COST, [part]: most + 1 })).toMatchObject({ budget, message: expect.stringContaining(budget) });
  const above = { ...NO_COST, [part]: most + 2 };
  expect(organisationExcess({ ...above, [part]: most + 1 }, above), 'reduced, but still above').toBe(undefined);
  const other = part === 'characters' ? 'values' : 'characters';
  expect(organisationExcess({ ...above, [other]: 1e9 }, above), 'one budget above its limit does not open the others').toMatchObject({
    budget: `organisation_${other}`,
  });
});

test('costs are added and subtracted', () => {
  const cost = { values: 3, pattern_steps: 2, template_tags: 1, target_parts: 5, characters: 7 };
  expect(addCost(addCost(NO_COST, cost), cost)).toEqual({
    values: 6,
    pattern_steps: 4,
    template_tags: 2,
    target_parts: 10,
    characters: 14,
  });
  expect(addCost(cost, cost, -1)).toEqual(NO_COST);
});

test('characters are those of texts and field names; a document above its budget still has them', () => {
  expect(measureConfiguration({ ab: ['cde', 1, null, { f: true }] })).toMatchObject({ ok: true, cost: { characters: 6 } });
  expect(measureConfiguration({ list: many(100_000, () => 'ab') })).toMatchObject({ ok: false, cost: { ...NO_COST, characters: 200_004 } });
});

test('a piece of an organisation costs its document, the characters held with it, and its own memory', () => {
  expect(pieceCost({ ...NO_COST, values: 3, characters: 7 }, { ab: 'cd' })).toEqual({ ...NO_COST, values: 3, characters: 7 + 4 + 1_000 });
});

test('a plan of 6,000 properties is measured in steps, with the result of one: it took 22 ms', () => {
  const plan = { events: { E: { properties: Object.fromEntries(many(6_000, (i) => [`p${i}`, { type: 'string', pattern: '^a' }])) } } };
  const steps = measureInSteps(plan);
  let count = 0;
  for (let step = steps.next(); ; step = steps.next(), count++)
    if (step.done) {
      expect(step.value).toEqual(measureConfiguration(plan));
      expect(step.value.cost).toMatchObject({ values: 3 + 6_000 * 3, characters: expect.any(Number) });
      break;
    }
  expect(count).toBe(18);
});
