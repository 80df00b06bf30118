import { expect, test } from 'vitest';
import { type Completion, matching, pathsOf } from './completions.ts';

const of = (...list: [path: string, seen?: number][]) =>
  new Map(list.map(([path, seen]) => [path, { path, note: '', ...(seen === undefined ? {} : { seen }) } satisfies Completion]));

test('what begins with the typed text comes first, then what events really have', () => {
  const all = of(['context.currency'], ['properties.order_currency', 3], ['properties.currency', 59]);
  expect(matching(all, 'cur', 10).map(({ path }) => path)).toEqual([
    'properties.currency',
    'context.currency',
    'properties.order_currency',
  ]);
  expect(matching(all, 'cur', 1)).toHaveLength(1);
  expect(matching(all, 'nothing', 10)).toEqual([]);
});
test('paths of an event, lists as [*]', () => {
  expect(pathsOf({ properties: { total: 1, products: [{ sku: 'a' }, { sku: 'b' }] }, tags: [] })).toEqual([
    'properties.total',
    'properties.products[*].sku',
  ]);
});
