import { expect, test } from 'vitest';
import { newId, randomText } from './ids.ts';

test('ids sort by the time they were created', () => {
  const ids = [1, 999, 1_700_000_000_000, 1_700_000_000_001].map((now) => newId('pl', now));
  expect(ids).toEqual(ids.toSorted());
  for (const id of ids) expect(id).toMatch(/^pl_[0-9a-hjkmnp-tv-z]{26}$/);
});

test('random characters do not repeat, beyond one filling of random bytes', () => {
  const made = Array.from({ length: 2_000 }, () => randomText(16));
  expect(new Set(made).size).toBe(made.length);
  expect(new Set(made.join('')).size).toBe(32);
  expect(randomText(10_000)).toHaveLength(10_000);
});
