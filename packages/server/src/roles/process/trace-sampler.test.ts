import { expect, test } from 'vitest';
import { createTraceSampler } from './trace-sampler.ts';

function samplerAt(traceSample: number, traceSampleAbove: number) {
  let now = 0;
  const leavesOut = createTraceSampler({ traceSample, traceSampleAbove }, { now: () => now, monotonic: () => now });
  const leftOut = (events: number, overMs: number) => {
    let out = 0;
    for (let n = 0; n < events; n++) {
      now += overMs / events;
      if (leavesOut?.(`event-${now}-${n}`)) out++;
    }
    return out;
  };
  return { leavesOut, leftOut, pass: (ms: number) => (now += ms) };
}

test('with a share of 1 nothing is decided', () => {
  expect(samplerAt(1, 10).leavesOut).toBeUndefined();
});

test('below the rate every event is traced, above it the share, and below it again all of them', () => {
  const { leftOut, pass } = samplerAt(0.1, 1_000);
  expect(leftOut(9_000, 10_000)).toBe(0);
  const out = leftOut(100_000, 10_000);
  expect(out).toBeGreaterThan(0.85 * 99_000);
  expect(out).toBeLessThan(0.95 * 100_000);
  pass(3_000);
  expect(leftOut(900, 1_000)).toBe(0);
});

test('an event belongs to the share or not, whoever asks and whenever', () => {
  const [a, b] = [samplerAt(0.5, 0), samplerAt(0.5, 0)];
  const ids = Array.from({ length: 1_000 }, (_, n) => `e${n}`);
  expect(ids.map((id) => a.leavesOut?.(id))).toEqual(ids.map((id) => b.leavesOut?.(id)));
});
