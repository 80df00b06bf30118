import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endQuota, isQuotaSpent, startQuota } from '../value-size.ts';
import { compileCondition } from './condition.ts';

const event = {
  type: 'track',
  properties: {
    total: 42.5,
    text_total: '42.5',
    name: 'Red shoes',
    tags: ['sale', 'new', 7],
    yes: true,
    nil: null,
    date: '2024-05-01T00:00:00Z',
    object: { a: [1] },
    products: [
      { sku: 'A1', price: 5 },
      { sku: 'B2', price: 50 },
    ],
  },
};

function holds(condition: unknown): boolean | string[] {
  const compiled = compileCondition(condition, 'filter', { parameters: { mode: 'test' } });
  return compiled.ok ? compiled.test(event) : compiled.faults.map((fault) => fault.field);
}

describe('operators', () => {
  test.each<[string, string, unknown, boolean]>([
    ['total', 'eq', 42.5, true],
    ['total', 'eq', '42.5', true],
    ['text_total', 'eq', 42.5, true],
    ['text_total', 'eq', '42.50', false],
    ['yes', 'eq', true, true],
    ['yes', 'eq', 'true', true],
    ['nil', 'eq', null, true],
    ['none', 'eq', null, true],
    ['object', 'eq', { a: [1] }, true],
    ['object', 'eq', { a: [2] }, false],
    ['total', 'ne', 1, true],
    ['none', 'ne', 1, true],
    ['total', 'gt', 42, true],
    ['text_total', 'gt', '5', true],
    ['total', 'gt', 42.5, false],
    ['total', 'gte', 42.5, true],
    ['total', 'lt', '100', true],
    ['total', 'lte', 42.4, false],
    ['name', 'gt', 5, false],
    ['none', 'lt', 5, false],
    ['date', 'gt', '2024-04-30T00:00:00Z', true],
    ['name', 'in', ['x', 'Red shoes'], true],
    ['total', 'in', ['42.5'], true],
    ['tags', 'in', ['new'], true],
    ['none', 'in', ['x'], false],
    ['name', 'not_in', ['x'], true],
    ['none', 'not_in', ['x'], true],
    ['name', 'contains', 'shoe', true],
    ['tags', 'contains', 'sale', true],
    ['tags', 'contains', '7', true],
    ['tags', 'contains', 'sal', false],
    ['object', 'contains', 'a', false],
    ['name', 'starts_with', 'Red', true],
    ['name', 'ends_with', 'shoes', true],
    ['tags', 'starts_with', 'sa', true],
    ['total', 'starts_with', '42', true],
    ['name', 'matches', '^Red\\s', true],
    ['name', 'matches', 'SHOES', false],
    ['name', 'matches', '(?i)SHOES', true],
    ['none', 'matches', '.*', false],
    ['total', 'exists', undefined, true],
    ['nil', 'exists', undefined, false],
    ['none', 'not_exists', undefined, true],
    ['toString', 'exists', undefined, false],
    ['products[*].sku', 'eq', 'B2', true],
    ['products[*].sku', 'ne', 'B2', false],
    ['products[*].sku', 'ne', 'C3', true],
    ['products[*].price', 'gt', 40, true],
    ['products[*].price', 'gt', 60, false],
  ])('%s %s %j', (field, op, value, expected) => {
    expect(holds({ field: `properties.${field}`, op, ...(value === undefined ? {} : { value }) })).toBe(expected);
  });
});

const YES = { field: 'type', op: 'eq', value: 'track' };
const NO = { field: 'type', op: 'eq', value: 'page' };

test.each<[unknown, boolean]>([
  [{ all: [YES, YES] }, true],
  [{ all: [YES, NO] }, false],
  [{ any: [NO, YES] }, true],
  [{ any: [NO, NO] }, false],
  [{ all: [] }, true],
  [{ any: [] }, false],
  [{ not: NO }, true],
  [{ not: { any: [NO, { all: [YES, { not: YES }] }] } }, true],
  [{ field: 'parameters.mode', op: 'eq', value: 'test' }, true],
])('%j', (condition, expected) => expect(holds(condition)).toBe(expected));

test.each<[unknown, string]>([
  [7, 'filter'],
  [null, 'filter'],
  [{}, 'filter.field'],
  [{ field: 'a', op: 'is' }, 'filter.op'],
  [{ field: 'a', op: 'toString' }, 'filter.op'],
  [{ field: 'a', op: 'eq' }, 'filter.value'],
  [{ field: 'a', op: 'in', value: 'x' }, 'filter.value'],
  [{ field: 'a', op: 'gt', value: [] }, 'filter.value'],
  [{ field: 'a', op: 'matches', value: '(' }, 'filter.value'],
  [{ field: 'a', op: 'matches', value: '(?=a)' }, 'filter.value'],
  [{ field: 'a[', op: 'exists' }, 'filter.field'],
  [{ field: 'a', op: 'exists', values: 1 }, 'filter.values'],
  [{ all: [YES], any: [YES] }, 'filter.any'],
  [{ all: YES }, 'filter.all'],
  [{ any: [YES, { not: 3 }] }, 'filter.any[1].not'],
])('%j is refused', (condition, field) => expect(holds(condition)).toContain(field));

test('depth and number are bounded', () => {
  let deep: unknown = YES;
  for (let i = 0; i < 50; i++) deep = { not: deep };
  expect(holds(deep)).toHaveLength(1);
  expect(holds({ all: Array.from({ length: 600 }, () => YES) })).not.toBe(true);
});

test('no condition and no event makes it throw', () => {
  const op = fc.constantFrom(
    'eq',
    'ne',
    'gt',
    'gte',
    'lt',
    'lte',
    'in',
    'not_in',
    'contains',
    'starts_with',
    'ends_with',
    'matches',
    'exists',
    'not_exists',
  );
  const condition = fc.oneof(fc.jsonValue(), fc.record({ field: fc.constantFrom('a', 'a.b', 'a[*].b', '$'), op, value: fc.jsonValue() }));
  fc.assert(
    fc.property(condition, fc.jsonValue(), (one, value) => {
      const compiled = compileCondition({ all: [one] }, 'filter');
      if (compiled.ok) expect(compiled.test({ a: value })).toBe(compiled.test({ a: value }));
    }),
  );
});

const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`a${i}`, i]));
test.each([
  ['eq', {}],
  ['not_in', [{}, { a1: 1 }]],
])('hundreds of conditions with %s and an object spend the quota of an event with many fields (they took up to 14 s)', (op, value) => {
  const compiled = compileCondition({ [op === 'eq' ? 'any' : 'all']: Array.from({ length: 499 }, () => ({ field: 'p', op, value })) }, 'x');
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  startQuota(1_000_000);
  try {
    compiled.test({ p: wide });
    expect(isQuotaSpent()).toBe(true);
  } finally {
    endQuota();
  }
});
test('hundreds of conditions with an object that has other fields cost little', () => {
  const all = Array.from({ length: 499 }, () => ({ field: 'p', op: 'ne', value: { b: 1 } }));
  const compiled = compileCondition({ all }, 'x');
  startQuota(1_000_000);
  try {
    expect([compiled.ok && compiled.test({ p: wide }), isQuotaSpent()]).toEqual([true, false]);
  } finally {
    endQuota();
  }
});
