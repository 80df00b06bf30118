import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WorkInterval } from './work-interval.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an interval runs while its rounds find work, and has no timer without', () => {
  let left = 0;
  let rounds = 0;
  const interval = new WorkInterval(100, () => {
    rounds++;
    return --left > 0;
  });
  expect(vi.getTimerCount()).toBe(0);
  left = 3;
  interval.wake();
  interval.wake();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(rounds).toBe(3);
  expect(vi.getTimerCount()).toBe(0);
  left = 1;
  interval.wake();
  vi.advanceTimersByTime(100);
  expect(rounds).toBe(4);
  interval.stop();
  interval.wake();
  expect(vi.getTimerCount()).toBe(0);
});
