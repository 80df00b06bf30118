import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CountsMessage, LiveState } from './connection.ts';
import { createRecentCounts } from './recent-counts.ts';

let status: LiveState['status'];
let asked: unknown[];
let hear: (message: CountsMessage) => void;
let changed: () => void;
let recent: ReturnType<typeof createRecentCounts>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  status = 'live';
  asked = [];
  recent = createRecentCounts({
    get: () => ({ status, skipped: 0, since: 0 }),
    subscribe: (listener) => {
      changed = listener;
      return () => undefined;
    },
    askCounts: (scopes) => void asked.push(scopes),
    onCounts: (listener) => {
      hear = listener;
      return () => undefined;
    },
  });
});
afterEach(() => void vi.useRealTimers());
const KEY = '{"pipeline_id":"pl_1"}';
const counts = {
  stage: 'counts' as const,
  time: '2026-05-01T12:00:00.000Z',
  scope: { pipeline_id: 'pl_1' },
  counts: { series: [], waiting: 2 },
};

test('each scope is asked for once, and no longer when nobody looks', async () => {
  const ends = [recent.watch('{}', () => undefined), recent.watch(KEY, () => undefined), recent.watch(KEY, () => undefined)];
  await Promise.resolve();
  for (const end of ends) end();
  await Promise.resolve();
  expect(asked).toEqual([[{}, { pipeline_id: 'pl_1' }], []]);
});

test('counts are fresh while they arrive, and not once they stop or the connection is lost', () => {
  recent.watch(KEY, () => undefined);
  const isFresh = () => recent.get(KEY)?.isFresh;
  hear(counts);
  expect(isFresh()).toBe(true);
  vi.advanceTimersByTime(40_000);
  expect(isFresh()).toBe(false);
  hear(counts);
  expect(isFresh()).toBe(true);
  status = 'offline';
  changed();
  expect([isFresh(), recent.get(KEY)?.counts.waiting]).toEqual([false, 2]);
});
