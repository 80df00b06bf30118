import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Ticks } from './ticks.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** `next` calls a group that stores `records`; `runs` are the groups and their times. */
function started(ticks: Ticks) {
  const from = Date.now();
  const runs: [name: string, atMs: number][] = [];
  const next = (name: string, records: number) =>
    ticks.next(() => {
      runs.push([name, Date.now() - from]);
      return records;
    });
  return { runs, next };
}

test('ticks are further apart after one with many records', async () => {
  const { runs, next } = started(new Ticks(200, 1_000));
  for (const [name, records] of [
    ['a', 60],
    ['b', 1],
    ['c', 1],
    ['d', 1],
  ] as const) {
    next(name, records);
    await vi.runAllTimersAsync();
  }
  expect(runs).toEqual([
    ['a', 200],
    ['b', 400],
    ['c', 1_400],
    ['d', 1_600],
  ]);
});

test('many groups are divided over the time until the next tick', async () => {
  const { runs, next } = started(new Ticks(200));
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) next(name, 1);
  await vi.advanceTimersByTimeAsync(210);
  next('a', 1);
  await vi.advanceTimersByTimeAsync(400);
  expect(runs).toEqual([
    ['a', 200],
    ['b', 200],
    ['c', 250],
    ['d', 250],
    ['e', 300],
    ['f', 300],
    ['a', 410],
  ]);
});
