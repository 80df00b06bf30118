import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoTime } from './iso-time.ts';

const LAST = 8.64e15;

it('writes every time as a Date does', () => {
  const near = fc.integer({ min: -1e6, max: 1e6 }).map((ms) => 1_795_000_000_000 + ms);
  const any = fc.oneof(near, fc.integer({ min: -LAST, max: LAST }), fc.double({ min: -LAST, max: LAST, noNaN: true }));
  fc.assert(
    fc.property(any, (ms) => isoTime(ms) === new Date(ms).toISOString()),
    { numRuns: 2_000 },
  );
  for (const ms of [-LAST, -1, -0, 0, 59_999, 60_000, LAST]) expect(isoTime(ms)).toBe(new Date(ms).toISOString());
});

it('refuses what is no time', () => {
  for (const ms of [Number.NaN, Number.POSITIVE_INFINITY, LAST * 2]) expect(() => isoTime(ms)).toThrow(RangeError);
});
