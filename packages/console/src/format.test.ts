import { expect, test } from 'vitest';
import { axisTime, clockTime } from './format.ts';

test('a time shows its date where it is not today, and its year where it is not this year', () => {
  const now = new Date(2026, 4, 12, 18);
  const at = (...parts: [number, number, number, number]) => clockTime(new Date(...parts).toISOString(), now);
  expect([at(2026, 4, 12, 9), at(2026, 4, 11, 9), at(2025, 4, 12, 9)]).toEqual([
    '09:00:00.000',
    '11 May 09:00:00.000',
    '12 May 2025 09:00:00.000',
  ]);
});

test('the axis of a week says which day it is', () => {
  const at = (...parts: [number, number, number, number]) => axisTime(new Date(...parts).getTime() / 1_000);
  expect([at(2026, 4, 11, 12), at(2026, 4, 12, 0), at(2026, 4, 12, 12)]).toEqual(['12:00', '12 May', '12:00']);
});
