import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DailyCount, effectiveRate, Pacer } from './rate.ts';

const NONE = { rate_limit_rps: null, rate_limit_burst: null, rate_limit_daily: null };

test.each([
  ['the vendor alone', NONE, { rps: 50, burst: 100, daily: 0 }, { rps: 50, burst: 100, daily: 0 }],
  [
    'a rate of its own takes twice that as burst',
    { ...NONE, rate_limit_rps: 5 },
    { rps: 50, burst: 100, daily: 0 },
    { rps: 5, burst: 10, daily: 0 },
  ],
  [
    'a burst chosen in the config stays, also where it is twice the rate',
    { ...NONE, rate_limit_rps: 5 },
    { rps: 50, burst: 100, daily: 0, burst_chosen: true },
    { rps: 5, burst: 100, daily: 0 },
  ],
  [
    'a burst that belongs to the vendor’s own rate does not',
    { ...NONE, rate_limit_rps: 5 },
    { rps: 50, burst: 70, daily: 0 },
    { rps: 5, burst: 10, daily: 0 },
  ],
  [
    'every field of its own',
    { rate_limit_rps: 1, rate_limit_burst: 9, rate_limit_daily: 3 },
    { rps: 50, burst: 100, daily: 7 },
    { rps: 1, burst: 9, daily: 3 },
  ],
  ['a slow rate can still send one', { ...NONE, rate_limit_rps: 0.1 }, { rps: 1, burst: 2, daily: 0 }, { rps: 0.1, burst: 1, daily: 0 }],
])('%s', (_name, record, vendor, expected) => {
  expect(effectiveRate(record, vendor)).toEqual(expected);
});

describe('pacing', () => {
  test('a burst is sent at once, then one event per interval', () => {
    const pacer = new Pacer();
    const rate = { rps: 10, burst: 3, daily: 0 };
    expect([0, 0, 0, 0].map((now) => pacer.take(rate, now))).toEqual([0, 0, 0, 100]);
    expect([100, 100, 250, 300].map((now) => pacer.take(rate, now))).toEqual([0, 100, 0, 0]);
  });
  test('a rate of 0 never waits', () => {
    const pacer = new Pacer();
    for (let i = 0; i < 1000; i++) expect(pacer.take({ rps: 0, burst: 1, daily: 0 }, 0)).toBe(0);
  });
  test('no window of any length sees more than burst + rate × length', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.double({ min: 0, max: 40, noNaN: true }), { maxLength: 300 }),
        (rps, burst, steps) => {
          const pacer = new Pacer();
          const sent: number[] = [];
          let now = 0;
          for (const step of steps) {
            now += step;
            if (pacer.take({ rps, burst, daily: 0 }, now) === 0) sent.push(now);
          }
          for (let i = 0; i < sent.length; i += 7)
            for (let j = i; j < sent.length; j += 5)
              expect(j - i + 1).toBeLessThanOrEqual(burst + ((sent[j]! - sent[i]!) * rps) / 1000 + 1e-3);
        },
      ),
    );
  });
  test('a caller that waits as long as requested is admitted, and the rate is reached', () => {
    const pacer = new Pacer();
    const rate = { rps: 3, burst: 1, daily: 0 };
    let now = 0;
    for (let i = 0; i < 31; i++) {
      const wait = pacer.take(rate, now);
      now += wait;
      if (wait > 0) expect(pacer.take(rate, now)).toBe(0);
    }
    expect(now).toBeCloseTo(10_000, 3);
  });
});

describe('the daily cap', () => {
  const noon = Date.parse('2026-03-01T12:00:00Z');
  test('holds until the next UTC day', () => {
    const count = new DailyCount();
    expect([1, 2, 3].map(() => count.take(2, noon))).toEqual([0, 0, 12 * 3_600_000]);
    expect(count.take(2, Date.parse('2026-03-02T00:00:00Z'))).toBe(0);
  });
  test('continues from a stored count', () => {
    const count = new DailyCount();
    count.take(0, noon);
    count.take(0, noon);
    expect(new DailyCount(count.state).take(2, noon)).toBeGreaterThan(0);
  });
  test('0 is no cap', () => {
    const count = new DailyCount();
    for (let i = 0; i < 100; i++) expect(count.take(0, noon)).toBe(0);
  });
});
