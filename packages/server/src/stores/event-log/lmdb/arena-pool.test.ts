import { expect, test } from 'vitest';
import { ArenaPool } from './arena-pool.ts';

test('an arena that was given back is used again for the same size', () => {
  const pool = new ArenaPool();
  const arena = pool.take(5_000);
  expect(arena.length).toBeGreaterThanOrEqual(5_000);
  expect(pool.take(5_000)).not.toBe(arena);
  pool.giveBack(arena);
  expect(pool.take(4_000)).not.toBe(arena);
  expect(pool.take(8_000)).toBe(arena);
  expect(pool.take(8_000)).not.toBe(arena);
});

test('very large arenas and those above the limit are freed at once', () => {
  const pool = new ArenaPool();
  const large = pool.take(3_000_000);
  expect(large.length).toBe(3_000_000);
  pool.giveBack(large);
  expect(large).toHaveLength(0);
  expect(pool.take(3_000_000)).toHaveLength(3_000_000);
  const arenas = Array.from({ length: 3 }, () => pool.take(1_048_576));
  for (const arena of arenas) pool.giveBack(arena);
  const again = new Set(Array.from({ length: 3 }, () => pool.take(1_048_576)));
  expect(arenas.filter((arena) => again.has(arena))).toHaveLength(2);
  expect(arenas.map(({ length }) => length)).toEqual([1_048_576, 1_048_576, 0]);
});
