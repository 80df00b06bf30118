import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { finish } from '../steps.ts';
import { compileMapping } from './mapping.ts';
import { eventWith } from './testing/event-with.ts';

const rows = <T>(count: number, row: (i: number) => T) => Array.from({ length: count }, (_, i) => row(i));
function mappingOf(config: JsonObject) {
  const mapping = compileMapping(config);
  if (!mapping.ok) throw new Error(JSON.stringify(mapping.faults));
  return mapping;
}
const OBJECTS = rows(20_000, (i) => ({ a: i }));
const TEXT = 'x'.repeat(300_000);

describe('a large event is mapped in steps, with the result of one step', () => {
  test.each<[string, JsonObject, JsonObject]>([
    [
      'rows of nested targets',
      { mappings: rows(12, (i) => ({ source: 'properties.text', target: `a.b${i % 3}.c${i}`, transforms: ['uppercase'] })) },
      { text: TEXT },
    ],
    [
      'rows over a copied value',
      {
        mappings: [
          { source: 'properties', target: '$' },
          ...rows(9, (i) => ({ source: 'properties.text', target: `p.t${i}`, transforms: ['sha256'] })),
        ],
      },
      { text: TEXT, p: { kept: true } },
    ],
    ['a list', { mappings: [{ source: 'properties.list[*].a', target: 'l[*].b.c' }] }, { list: OBJECTS }],
    [
      'a list with a constant in each element',
      {
        mappings: [
          { source: 'properties.list[*].a', target: 'l[*].b' },
          { value: 1, target: 'l[*].c' },
        ],
      },
      { list: OBJECTS },
    ],
    [
      'enrichments',
      {
        enrichments: rows(9, (i) => ({ source: 'properties.text', target: `properties.t${i}`, transforms: ['sha256'] })),
        mappings: [{ source: 'properties.t8', target: 'h' }],
      },
      { text: TEXT },
    ],
    [
      'transforms of the payload',
      {
        mappings: [{ source: 'properties.text', target: 'text' }],
        transforms: rows(9, () => ({ target: 'text', transforms: ['lowercase'] })),
      },
      { text: TEXT },
    ],
    ['a required list', { mappings: [{ source: 'properties.list[*].no', target: 'l[*].b', required: true }] }, { list: OBJECTS }],
  ])('%s', (_, entry, properties) => {
    const mapping = mappingOf({ events: { A: entry } });
    const whole = mapping.run(eventWith(properties));
    const steps = mapping.runInSteps(eventWith(properties));
    // Another event between any two steps: it has its own quota and state.
    const small = eventWith({ text: 'y', list: [] });
    const alone = mapping.run(small);
    let yields = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      yields++;
      expect(mapping.run(small)).toEqual(alone);
    }
    expect(step.value).toEqual(whole);
    if (whole.kind === 'payload') expect(yields).toBeGreaterThanOrEqual(1);
  });

  test('steps of version 1', () => {
    const mapping = mappingOf({
      version: 1,
      steps: rows(9, (i) => ({ type: 'transform', target: `properties.t${i}`, transforms: ['uppercase', 'sha256'] })),
    });
    const large = eventWith(Object.fromEntries(rows(9, (i) => [`t${i}`, TEXT])));
    expect([...mapping.runInSteps(large)].length).toBeGreaterThanOrEqual(1);
    expect(finish(mapping.runInSteps(large))).toEqual(mapping.run(large));
  });
});

test('a condition that many rows share is that of the event, also where another one was mapped between two steps', () => {
  const when = { field: 'properties.on', op: 'eq', value: true };
  const mapping = mappingOf({
    events: { A: { mappings: rows(12, (i) => ({ source: 'properties.text', target: `t${i}`, transforms: ['sha256'], when })) } },
  });
  const steps = mapping.runInSteps(eventWith({ text: TEXT, on: true }));
  let step = steps.next();
  for (; !step.done; step = steps.next())
    expect(mapping.run(eventWith({ text: 'y', on: false }))).toEqual({ kind: 'payload', payload: {} });
  expect(step.value.kind === 'payload' && Object.keys(step.value.payload as object)).toHaveLength(12);
  // The next one has a number of its own, too.
  expect(mapping.run(eventWith({ text: 'y', on: false }))).toEqual({ kind: 'payload', payload: {} });
});
