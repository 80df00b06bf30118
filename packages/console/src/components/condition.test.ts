import { compileCondition } from '@firsthand/core/filter/condition.ts';
import { expect, test } from 'vitest';
import { conditionText, readGroup, writeGroup } from './condition.ts';

const paid = { field: 'properties.total', op: 'gt', value: 0 };
const test_ = { field: 'properties.test', op: 'exists' };

test.each([
  [paid, 'properties.total > 0'],
  [
    { all: [paid, { any: [test_, { field: 'event', op: 'in', value: ['A', 'B'] }] }] },
    'properties.total > 0 and (properties.test exists or event is one of A, B)',
  ],
  [{ not: { any: [paid, test_] } }, 'not (properties.total > 0 or properties.test exists)'],
  [{ not: test_ }, 'not (properties.test exists)'],
  [{ all: [] }, 'always'],
])('%j reads as “%s”', (condition, text) => {
  expect(conditionText(condition)).toBe(text);
});

test('the parts of a group have the paths that the compiler names in faults', () => {
  const broken = { field: 'event', op: 'in', value: 'A' };
  for (const condition of [{ all: [paid, broken] }, { any: [paid, broken] }, { not: { any: [paid, broken] } }, { not: broken }]) {
    const compiled = compileCondition(condition, 'filter');
    const last = readGroup(condition, 'filter')?.parts.at(-1)?.where;
    expect(compiled.ok ? [] : compiled.faults.map(({ field }) => field)).toEqual([`${last}.value`]);
  }
});

test('“none of these” is kept, also where it was written without a list', () => {
  const event = { properties: { total: 7 } };
  const group = readGroup({ not: paid }, '');
  const written = writeGroup(group?.kind ?? 'all', group?.parts.map(({ condition }) => condition) ?? []);
  const compiled = compileCondition(written, '');
  expect(compiled.ok && compiled.test(event)).toBe(false);
  expect(readGroup(paid, '')).toBeUndefined();
});
