import { expect, test } from 'vitest';
import { createSharedLimits } from '../../rate-limits/shared-limits.ts';
import { createRateLimiter } from './rate-limiter.ts';

function limiterAt() {
  let now = 1_000;
  const limiter = createRateLimiter(createSharedLimits({ clock: { now: () => now, monotonic: () => now } }));
  return { limiter, pass: (ms: number) => (now += ms) };
}
const admitted = (take: () => number, tries: number) => Array.from({ length: tries }, take).filter((wait) => wait === 0).length;

test.each([1, 2, 3, 7, 10, 1_000, 3_333])('%i a second: a burst of one second, then as many each second', (rate) => {
  const { limiter, pass } = limiterAt();
  expect(admitted(() => limiter.take('p', rate), rate * 2)).toBe(rate);
  pass(1_000);
  expect(admitted(() => limiter.take('p', rate), rate * 2)).toBe(rate);
  pass(500);
  expect(admitted(() => limiter.take('p', rate), rate)).toBe(Math.floor(rate / 2));
});
test('the wait ends when the next event fits', () => {
  const { limiter, pass } = limiterAt();
  for (let i = 0; i < 10; i++) limiter.take('p', 10);
  const wait = limiter.take('p', 10);
  expect(wait).toBeCloseTo(100);
  pass(wait);
  expect(limiter.take('p', 10)).toBe(0);
});
test('a batch is admitted while a token remains, and its debt is paid before the next', () => {
  const { limiter, pass } = limiterAt();
  expect(limiter.take('p', 10)).toBe(0);
  limiter.charge('p', 10, 39);
  expect(limiter.take('p', 10)).toBeCloseTo(3_100);
  pass(3_000);
  expect(limiter.take('p', 10)).toBeGreaterThan(0);
  pass(101);
  expect(limiter.take('p', 10)).toBe(0);
});
test('pipelines have separate budgets', () => {
  const { limiter } = limiterAt();
  expect(limiter.take('a', 1)).toBe(0);
  expect(limiter.take('a', 1)).toBeGreaterThan(0);
  expect(limiter.take('b', 1)).toBe(0);
});
