import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_RETRY_AFTER_MS, retryAfterMs } from '../vendor/retry-after.ts';
import { retryDelayMs } from './retry.ts';

const rules = { max_retries: 5, base_ms: 1_000 };

test('six failures walk the schedule and leave no retry', () => {
  expect([1, 2, 3, 4, 5, 6].map((attempt) => retryDelayMs(attempt, rules, 0))).toEqual([1_000, 4_000, 16_000, 64_000, 256_000, undefined]);
});

test('jitter adds up to 25 % and never subtracts', () => {
  expect([1, 2, 3, 4, 5].map((attempt) => retryDelayMs(attempt, rules, 0.9999999))).toEqual([1_250, 5_000, 20_000, 80_000, 320_000]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (attempt, random) => {
      const table = 1_000 * 4 ** (attempt - 1);
      const delay = retryDelayMs(attempt, rules, random)!;
      expect(delay).toBeGreaterThanOrEqual(table);
      expect(delay).toBeLessThanOrEqual(table * 1.25 + 1);
    }),
  );
});

test.each([
  [0, 1, undefined],
  [1, 1, 1_000],
  [1, 2, undefined],
  [5, 6, undefined],
  [99, 6, undefined],
])('max_retries %d after try %d waits %s', (max_retries, attempt, expected) => {
  expect(retryDelayMs(attempt, { ...rules, max_retries }, 0)).toBe(expected);
});

describe('Retry-After lengthens, never shortens', () => {
  test.each([
    ['shorter than the table', 2, 1_000, 4_000],
    ['longer than the table', 1, 30_000, 30_000],
    ['absurd', 1, 1e15, MAX_RETRY_AFTER_MS],
    ['infinite', 1, Number.POSITIVE_INFINITY, MAX_RETRY_AFTER_MS],
    ['negative', 1, -5_000, 1_000],
    ['not a number', 1, Number.NaN, 1_000],
    ['missing', 1, undefined, 1_000],
  ])('%s', (_name, attempt, retryAfter, expected) => {
    expect(retryDelayMs(attempt, rules, 0, retryAfter)).toBe(expected);
  });
});

describe('the forms of Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  test.each<[string | undefined, number | undefined]>([
    ['120', 120_000],
    [' 7 ', 7_000],
    ['1.5', 1_500],
    ['0', undefined],
    ['Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', undefined],
    ['Fri, 01 Jan 2199 00:00:00 GMT', MAX_RETRY_AFTER_MS],
    ['99999999999999999999999', MAX_RETRY_AFTER_MS],
    ['-120', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s', (value, expected) => {
    expect(retryAfterMs(value, now)).toBe(expected);
  });
  test('any text at all gives nothing or 0 to an hour', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.integer().map(String),
          fc.date({ noInvalidDate: true }).map((d) => d.toUTCString()),
        ),
        (text) => {
          const ms = retryAfterMs(text, now);
          if (ms !== undefined) expect(ms >= 0 && ms <= MAX_RETRY_AFTER_MS).toBe(true);
        },
      ),
    );
  });
});
