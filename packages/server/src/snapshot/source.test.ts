import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMetrics } from '../runtime/metrics.ts';
import { startSnapshot } from './source.ts';

/** What a database that is not in a hurry takes for each. */
const QUERY_MS = 15;
const LOAD_MS = 60;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Another process writes `afterMs` after a load: how long until this one has it. */
async function delayOf(change: { urgent: boolean; afterMs: number; reloadMs: number }): Promise<number> {
  const stored = { version: 1, urgent_version: 1 };
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const nothing = { organisations: [], pipelines: [], integrations: [], transformations: [], webhook_sources: [] };
  const starting = startSnapshot({
    async readVersion() {
      await wait(QUERY_MS);
      return { ...stored };
    },
    async loadRows() {
      const read = { ...stored, ...nothing };
      await wait(LOAD_MS);
      return read;
    },
    settings: { mode: 'development', allowPrivateDestinations: true, configReloadMs: change.reloadMs, natsUrl: undefined },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
  });
  await vi.advanceTimersByTimeAsync(LOAD_MS);
  const snapshots = await starting;
  await vi.advanceTimersByTimeAsync(change.afterMs);
  stored.version = 2;
  if (change.urgent) stored.urgent_version = 2;
  const written = performance.now();
  let seen = Number.POSITIVE_INFINITY;
  snapshots.onChange((snapshot) => {
    if (snapshot.version === 2) seen = Math.min(seen, performance.now() - written);
  });
  await vi.advanceTimersByTimeAsync(change.reloadMs * 3);
  await snapshots.stop();
  return seen;
}

test.each([
  ['what is disabled, deleted or rotated', { urgent: true, reloadMs: 5_000 }, 1_000],
  ['any other change', { urgent: false, reloadMs: 5_000 }, 5_000],
  ['any other change, with an interval of a second,', { urgent: false, reloadMs: 1_000 }, 1_000],
  ['any other change, with a long interval,', { urgent: false, reloadMs: 30_000 }, 30_000],
])('%s is in force in time, whenever it was written', async (_, change, bound) => {
  const delays: number[] = [];
  for (let afterMs = 0; afterMs <= change.reloadMs; afterMs += change.reloadMs / 50) delays.push(await delayOf({ ...change, afterMs }));
  expect(Math.max(...delays)).toBeLessThanOrEqual(bound);
});
