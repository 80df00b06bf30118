import { afterEach, expect, test, vi } from 'vitest';
import { isoTime, localTime } from './local-time.ts';

afterEach(() => void vi.unstubAllEnvs());

test('a time in the hour that the clock repeats stays the time of the address (it became the one an hour before)', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  for (const time of ['2026-10-25T00:10:00.000Z', '2026-10-25T01:10:00.000Z']) {
    expect(localTime(Date.parse(time))).toBe('2026-10-25T02:10');
    expect(isoTime('2026-10-25T02:10', time)).toBe(time);
  }
});

test('another text is another time, and what is no time stays', () => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(isoTime('2026-05-01T08:00', '2026-05-01T11:00:00.000Z')).toBe('2026-05-01T12:00:00.000Z');
  expect(isoTime('2026-05-01T08:00', undefined)).toBe('2026-05-01T12:00:00.000Z');
  expect([isoTime('', undefined), isoTime('soon', 'never')]).toEqual(['', 'soon']);
});
