import { expect, test } from 'vitest';
import { mergeConfig } from './merge.ts';

test.each([
  [{ a: { b: 1, c: 2 } }, { a: { c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }],
  [{ a: [1, 2, 3] }, { a: [9] }, { a: [9] }],
  [{ a: { b: 1 } }, { a: [1] }, { a: [1] }],
  [{ a: 1 }, { a: null }, { a: null }],
  [{ a: 1 }, {}, { a: 1 }],
  [{ events: { X: { mappings: [1] } } }, { events: { Y: { mappings: [2] } } }, { events: { X: { mappings: [1] }, Y: { mappings: [2] } } }],
])('%j and %j', (base, over, expected) => {
  expect(mergeConfig(base, over)).toEqual(expected);
});

test('neither argument is changed or shared, and no prototype is reached', () => {
  const base = { a: { list: [{ x: 1 }] } };
  const merged = mergeConfig(base, {}) as typeof base;
  merged.a.list[0]!.x = 2;
  expect(base.a.list[0]!.x).toBe(1);
  mergeConfig({ a: {} }, JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":true}}}'));
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
