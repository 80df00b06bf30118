import { expect, test } from 'vitest';
import { guardAgainstJumps } from './jump-guard.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

test('a jump ahead of the wall clock counts once it has held for an hour', () => {
  let [now, monotonic] = [100 * DAY, 0];
  const jumped = guardAgainstJumps({ now: () => now, monotonic: () => monotonic });
  const pass = (ms: number, jump = 0) => {
    monotonic += ms;
    now += ms + jump;
    return jumped();
  };
  expect(pass(MINUTE)).toBe(false);
  expect(pass(MINUTE, 5 * MINUTE)).toBe(false);
  expect(pass(MINUTE, 30 * DAY)).toBe(true);
  expect(pass(MINUTE, -30 * DAY), 'and back').toBe(false);
  expect(pass(MINUTE, 30 * DAY)).toBe(true);
  expect(pass(59 * MINUTE)).toBe(true);
  expect(pass(MINUTE)).toBe(false);
  expect(pass(MINUTE)).toBe(false);
});
