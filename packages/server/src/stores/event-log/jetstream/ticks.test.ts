import { expect, test, vi } from 'vitest';
import { Ticks } from './ticks.ts';

test('groups store at the same moment, and wait longer after a tick with many records', async () => {
  vi.useFakeTimers();
  const ticks = new Ticks(200, 1_000);
  const runs: string[] = [];
  const next = (name: string, records: number) =>
    ticks.next(() => {
      runs.push(name);
      return records;
    });
  next('a', 30);
  await vi.advanceTimersByTimeAsync(150);
  next('b', 30);
  await vi.advanceTimersByTimeAsync(50);
  expect(runs).toEqual(['a', 'b']);
  next('c', 1);
  await vi.advanceTimersByTimeAsync(999);
  expect(runs).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(runs).toEqual(['a', 'b', 'c']);
  next('d', 1);
  await vi.advanceTimersByTimeAsync(200);
  expect(runs).toHaveLength(4);
  vi.useRealTimers();
});
