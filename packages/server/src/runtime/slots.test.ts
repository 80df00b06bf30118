import { expect, test } from 'vitest';
import { Slots } from './slots.ts';

test('behaves like a set for any order of additions and removals', () => {
  const slots = new Slots<{ slot: number; id: number }>();
  const model = new Set<{ slot: number; id: number }>();
  const known = Array.from({ length: 50 }, (_, id) => ({ slot: -1, id }));
  let seed = 7;
  for (let i = 0; i < 5_000; i++) {
    seed = (seed * 48_271) % 2_147_483_647;
    const one = known[seed % known.length]!;
    if (model.has(one)) {
      expect(slots.remove(one)).toBe(true);
      model.delete(one);
    } else {
      expect(slots.remove(one)).toBe(false);
      slots.add(one);
      model.add(one);
    }
    expect(slots.size).toBe(model.size);
  }
  expect(slots.all().sort((a, b) => a.id - b.id)).toEqual([...model].sort((a, b) => a.id - b.id));
});
