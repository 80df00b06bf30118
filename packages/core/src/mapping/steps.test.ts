import { expect, test } from 'vitest';
import { finish } from '../steps.ts';
import { compileMappingInSteps } from './mapping.ts';

const rows = (count: number, target: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => ({ source: `properties.a_${i}`, target: target(i) }));

test('the rows of one event are compiled in steps too: mappings, enrichments and transforms', () => {
  const event = { mappings: rows(1_000, (i) => `b_${i}`), enrichments: rows(1_000, (i) => `c.d_${i}`) };
  const transforms = Array.from({ length: 1_000 }, (_, i) => ({ target: `b_${i}`, transforms: ['trim'] }));
  expect([...compileMappingInSteps({ events: { E: { ...event, transforms } } })].length).toBeGreaterThan(50);
});

test('the tree of targets, which was compiled in one step, is compiled in steps: a wide one, a deep one and one in a list', () => {
  const stepsOf = (target: (i: number) => string, count: number) =>
    [...compileMappingInSteps({ events: { E: { mappings: rows(count, target) } } })].length;
  const alone = stepsOf((i) => `same[${i % 2}]`, 200);
  expect(stepsOf((i) => `${'a.'.repeat(49)}b_${i}`, 200)).toBeGreaterThan(alone + 40);
  expect(stepsOf((i) => `b_${i}.c`, 1_000)).toBeGreaterThan(stepsOf(() => 'one', 1_000) + 8);
  expect(stepsOf((i) => `l[0].${'a.'.repeat(8)}b_${i}`, 900)).toBeGreaterThan(stepsOf(() => 'one', 900) + 8);
});

test('the targets of one event have at most 10,000 parts together', () => {
  const config = (count: number) => ({ events: { E: { mappings: rows(count, (i) => `${'a.'.repeat(49)}b_${i}`) } } });
  expect(finish(compileMappingInSteps(config(200))).ok).toBe(true);
  expect(finish(compileMappingInSteps(config(201)))).toMatchObject({
    ok: false,
    faults: [{ field: 'events.E.mappings', message: expect.stringContaining('at most 10000 parts') }],
  });
});

test('a mapping of many events is compiled event by event, so that a server can answer in between', () => {
  const events = Object.fromEntries(
    Array.from({ length: 6 }, (_, n) => [`Event ${n}`, { mappings: [{ source: `properties.a_${n}`, target: 'b' }] }]),
  );
  const steps = compileMappingInSteps({ events });
  let yields = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) yields++;
  expect(yields).toBeGreaterThanOrEqual(6);
  expect(step.value.ok).toBe(true);
});
