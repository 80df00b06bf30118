import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectAfterLoad } from './collect-after-load.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each<[name: string, utilisation: number[], collections: number]>([
  ['an idle process collects nothing', [0, 0.01, 0], 0],
  ['a low rate is no load', [0.2, 0.01, 0.2, 0.01], 0],
  ['nothing is collected during a load', [0.9, 0.9, 0.2, 0.9], 0],
  ['once after a load', [0.9, 0.2, 0.05, 0, 0], 1],
  ['again after the next load', [0.9, 0, 0.9, 0, 0], 2],
])('%s', async (_name, utilisation, collections) => {
  const collect = vi.fn();
  const left = [...utilisation];
  const { stop } = collectAfterLoad({ utilisation: () => left.shift() ?? 0, collect });
  await vi.advanceTimersByTimeAsync(5_000 * utilisation.length);
  expect(collect).toHaveBeenCalledTimes(collections);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
