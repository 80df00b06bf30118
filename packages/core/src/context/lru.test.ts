import { expect, test } from 'vitest';
import { Lru } from './lru.ts';

test('it holds no more than its limit, and always the half that was used last', () => {
  const lru = new Lru<number, string>(10);
  for (let i = 0; i < 1_000; i++) {
    lru.set(i, `v${i}`);
    expect(lru.size).toBeLessThanOrEqual(10);
    for (let back = 0; back < 5 && back <= i; back++) expect(lru.get(i - back)).toBe(`v${i - back}`);
  }
  expect(lru.get(0)).toBeUndefined();
});

test('recently used entries are kept while others are evicted', () => {
  const lru = new Lru<string, number>(10);
  lru.set('kept', 1);
  for (let i = 0; i < 1_000; i++) {
    lru.set(`other${i}`, i);
    if (i % 3 === 0) expect(lru.get('kept')).toBe(1);
  }
});

test('entries can be changed, removed and evicted at any position', () => {
  const lru = new Lru<string, number>(4);
  for (const key of ['a', 'b', 'c']) lru.set(key, 1);
  for (const key of ['a', 'c']) lru.set(key, 2);
  expect([lru.get('a'), lru.get('c')]).toEqual([2, 2]);
  for (const key of ['a', 'c']) lru.delete(key);
  expect([lru.get('a'), lru.get('c')]).toEqual([undefined, undefined]);
  lru.set('d', 1);
  lru.clear();
  expect([lru.size, lru.get('d')]).toEqual([0, undefined]);
});

test('what is evicted is handed over, and only that', () => {
  const evicted: number[] = [];
  const lru = new Lru<number, string>(10, (entries) => evicted.push(...entries.keys()));
  for (let i = 0; i < 12; i++) lru.set(i, `v${i}`);
  expect([evicted, [...lru.values()]]).toEqual([
    [0, 1, 2, 3, 4],
    ['v5', 'v6', 'v7', 'v8', 'v9', 'v10', 'v11'],
  ]);
});
