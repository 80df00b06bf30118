import { expect, test } from 'vitest';
import { webhookTime } from './webhook-time.ts';

const AT = Date.parse('2026-03-01T12:00:00.000Z');
test.each([
  [1_772_366_400, 'unix_seconds', AT],
  ['1772366400', 'unix_seconds', AT],
  [1_772_366_400.5, 'unix_seconds', AT + 500],
  [AT, 'unix_millis', AT],
  [String(AT), 'unix_millis', AT],
  ['2026-03-01T13:00:00+01:00', 'iso8601', AT],
  [' 2026-03-01T12:00:00Z ', 'iso8601', AT],
  [1_772_366_400, null, AT],
  [AT, null, AT],
  ['2026-03-01T12:00:00Z', null, AT],
  ['2026-03-01T12:00:00Z', 'unix_seconds', undefined],
  [AT, 'iso8601', undefined],
  [AT, 'unix_seconds', undefined],
  [1e300, 'unix_millis', undefined],
  [-1, 'unix_seconds', undefined],
  [Number.NaN, null, undefined],
  ['soon', null, undefined],
  [true, null, undefined],
  [{}, 'iso8601', undefined],
] as const)('%s as %s', (value, format, ms) => {
  expect(webhookTime(value, format)).toBe(ms);
});
