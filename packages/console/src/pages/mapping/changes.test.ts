import { expect, test } from 'vitest';
import { changesOf, rowText } from './changes.ts';

const row = (source: string, target = source) => ({ source, target });
const config = (...mappings: object[]) => ({ events: { Order: { mappings } } });
const lines = (before: object, after: object) =>
  changesOf(before, after).map(
    ({ kind, path, before: old = '', after: now = '' }) => `${kind} ${path} ${old}${old && now ? ' | ' : ''}${now}`,
  );

test('one row that is changed among many is one change, at its row', () => {
  const rows = Array.from({ length: 50 }, (_, at) => row(`properties.f${at}`));
  expect(lines(config(...rows), config(...rows.with(20, row('properties.f20', 'other'))))).toEqual([
    'changed events.Order.mappings[20] properties.f20 → properties.f20 | properties.f20 → other',
  ]);
});
test('rows that are added, removed and moved are told apart', () => {
  const [a, b, c] = [row('a'), row('b'), row('c')];
  expect(lines(config(a, b), config(a, c, b))).toEqual(['added events.Order.mappings[1] c → c']);
  expect(lines(config(a, b, c), config(a, c))).toEqual(['removed events.Order.mappings[1] b → b']);
  expect(lines(config(a, b, c), config(b, c, a))).toEqual(['moved events.Order.mappings[2] a → a']);
});
test('settings, filters and whole entries are named by their path', () => {
  const before = { url: 'https://a', events: { Order: { enabled: true, filter: { field: 'x', op: 'exists' } } } };
  const after = {
    url: 'https://b',
    events: { Order: { enabled: true, filter: { field: 'x', op: 'not_exists' } }, Lead: { mappings: [] } },
  };
  expect(lines(before, after)).toEqual([
    'changed url https://a | https://b',
    'changed events.Order.filter x exists | x is missing',
    'added events.Lead {"mappings":[]}',
  ]);
  expect(changesOf(before, structuredClone(before))).toEqual([]);
});
test('a row is one line with everything it says', () => {
  expect(
    rowText({
      source: ['a', 'b'],
      target: 't',
      transforms: ['trim', { name: 'truncate', args: [10] }],
      default: 'EUR',
      required: true,
      when: { field: 'c', op: 'exists' },
    }),
  ).toBe('a, b → trim → truncate(10) → t, required, else EUR, only when c exists');
  expect(rowText({ value: 1, target: 't' })).toBe('= 1 → t');
});
