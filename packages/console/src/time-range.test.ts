import { expect, test } from 'vitest';
import { entryRange } from './time-range.ts';

const HOUR = 3_600_000;

test('the number of an hour leads to its events; of the first hour only a part is counted, and its link led to all of it', () => {
  const from = '2026-05-01T17:26:00.000Z';
  const range = (hour: string) => entryRange(Date.parse(`2026-05-01T${hour}:00:00.000Z`), HOUR, from);
  expect(range('17')).toBe('2026-05-01T17:26:00.000Z/2026-05-01T17:59:59.999Z');
  expect(range('18')).toBe('2026-05-01T18:00:00.000Z/2026-05-01T18:59:59.999Z');
});
