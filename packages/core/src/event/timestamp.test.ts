import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTimestamp } from './timestamp.ts';

const CASES: [text: string, instant: string | undefined][] = [
  ['2026-01-15T10:30:00.000Z', '2026-01-15T10:30:00.000Z'],
  ['2026-01-15T10:30:00Z', '2026-01-15T10:30:00.000Z'],
  ['2026-01-15T10:30Z', '2026-01-15T10:30:00.000Z'],
  ['2026-01-15T10:30:00.123456789Z', '2026-01-15T10:30:00.123Z'],
  ['2026-01-15T10:30:00.5+02:00', '2026-01-15T08:30:00.500Z'],
  ['2026-01-15T10:30:00-0530', '2026-01-15T16:00:00.000Z'],
  ['2026-01-15 10:30:00+02', '2026-01-15T08:30:00.000Z'],
  ['2026-01-15t10:30:00z', '2026-01-15T10:30:00.000Z'],
  ['20260115T103000Z', '2026-01-15T10:30:00.000Z'],
  ['20260115T103000.5-0530', '2026-01-15T16:00:00.500Z'],
  ['20260115', '2026-01-15T00:00:00.000Z'],
  ['2026-0115', undefined],
  ['20260230T000000Z', undefined],
  ['2026-01-15T10:30:00+24', undefined],
  ['2026-01-15 10:30:00', '2026-01-15T10:30:00.000Z'],
  ['2026-01-15T10:30:00', '2026-01-15T10:30:00.000Z'],
  ['2026-01-15', '2026-01-15T00:00:00.000Z'],
  ['2024-02-29T00:00:00.000Z', '2024-02-29T00:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['2026-02-30T00:00:00.000Z', undefined],
  ['2025-02-29', undefined],
  ['2026-13-01T00:00:00.000Z', undefined],
  ['2026-00-10T00:00:00.000Z', undefined],
  ['2026-01-15T25:00:00.000Z', undefined],
  ['2026-01-15T24:00:00.000Z', '2026-01-16T00:00:00.000Z'],
  ['2026-01-31T24:00:00.000Z', '2026-02-01T00:00:00.000Z'],
  ['2026-01-31T24:00:01Z', undefined],
  ['2025-02-29T00:00:00.000Z', undefined],
  ['2026-01-15T10:61:00.000Z', undefined],
  ['2026-01-15T10:30:00+24:00', undefined],
  ['1969-12-31T23:59:59.999Z', undefined],
  ['0001-01-01T00:00:00.000Z', undefined],
  ['+275760-09-13T00:00:00.000Z', undefined],
  ['yesterday', undefined],
  ['1700000000', undefined],
  ['Tue, 15 Nov 1994 12:45:26 GMT', undefined],
  ['', undefined],
  ['2026-01-15T10:30:00.000Z\n', undefined],
];

test.each(CASES)('%s', (text, instant) => {
  const ms = parseTimestamp(text);
  expect(ms === undefined ? undefined : new Date(ms).toISOString()).toBe(instant);
});

test('every time that JavaScript writes is read back exactly', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }), (date) => {
      expect(parseTimestamp(date.toISOString())).toBe(date.getTime());
    }),
  );
});
test('no text throws, and every result is a valid time', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)), (text) => {
      const ms = parseTimestamp(text);
      if (ms !== undefined) expect(new Date(ms).toISOString().length).toBe(24);
    }),
  );
});
