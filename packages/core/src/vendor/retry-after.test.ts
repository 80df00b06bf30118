import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
test.each([
  ['7', 7_000],
  [' 7 ', 7_000],
  ['0', undefined],
  ['-5', undefined],
  ['1.5', 1_500],
  [9, 9_000],
  ['999999999', 3_600_000],
  ['Fri, 02 Jan 2026 03:04:35 GMT', 30_000],
  ['Fri, 02 Jan 2026 03:00:00 GMT', undefined],
  ['Fri, 02 Jan 2099 03:00:00 GMT', 3_600_000],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
  [Number.NaN, undefined],
  ['1e9', undefined],
])('%s', (value, expected) => {
  expect(retryAfterMs(value, now)).toBe(expected);
});
