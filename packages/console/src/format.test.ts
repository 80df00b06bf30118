import { expect, test } from 'vitest';
import { clockTime } from './format.ts';

test('a time shows its date where it is not today, and its year where it is not this year', () => {
  const now = new Date(2026, 4, 12, 18);
  const at = (...parts: [number, number, number, number]) => clockTime(new Date(...parts).toISOString(), now);
  expect([at(2026, 4, 12, 9), at(2026, 4, 11, 9), at(2025, 4, 12, 9)]).toEqual([
    '09:00:00.000',
    '11 May 09:00:00.000',
    '12 May 2025 09:00:00.000',
  ]);
});
