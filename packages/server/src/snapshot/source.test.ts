import { DEFAULT_DATA_LAYER } from '@firsthand/core/config/resources.ts';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMetrics } from '../runtime/metrics.ts';
import { startSnapshot } from './source.ts';

/** What a database that is not in a hurry takes for each. */
const QUERY_MS = 15;
const LOAD_MS = 60;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Timers one by one. Background work waits for passes of the real event loop, which take none of the moved time. */
async function advance(ms: number): Promise<void> {
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, ms);
  await loopTurns();
  while (!isOver) {
    await vi.advanceTimersToNextTimerAsync();
    await loopTurns();
  }
}
/** More than a turn of background work takes. */
async function loopTurns(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

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
  await advance(LOAD_MS);
  const snapshots = await starting;
  await advance(change.afterMs);
  stored.version = 2;
  if (change.urgent) stored.urgent_version = 2;
  const written = performance.now();
  let seen = Number.POSITIVE_INFINITY;
  snapshots.onChange((snapshot) => {
    if (snapshot.version === 2) seen = Math.min(seen, performance.now() - written);
  });
  await advance(change.reloadMs * 3);
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

const NOTHING = { organisations: [], pipelines: [], integrations: [], transformations: [], webhook_sources: [] };
const deps = {
  settings: { mode: 'development' as const, allowPrivateDestinations: true, configReloadMs: 30_000, natsUrl: undefined },
  clock: { now: () => Date.now(), monotonic: () => performance.now() },
  logger: pino({ level: 'silent' }),
};

test('a change that PostgreSQL announces is in force at once, and many of them share a load each second', async () => {
  const stored = { version: 1, urgent_version: 1 };
  let loads = 0;
  let announce = () => {};
  const snapshots = await startSnapshot({
    ...deps,
    metrics: createMetrics(),
    readVersion: async () => ({ ...stored }),
    loadRows: async () => {
      loads++;
      return { ...stored, ...NOTHING };
    },
    listen(onChange) {
      announce = onChange;
      return { live: true, stop: async () => {} };
    },
  });
  await advance(5_000);
  stored.version++;
  announce();
  await advance(10);
  expect(snapshots.current().version).toBe(2);
  loads = 0;
  for (let n = 0; n < 50; n++) {
    stored.version++;
    announce();
    await advance(100);
  }
  await advance(1_000);
  expect(snapshots.current().version).toBe(52);
  expect(loads).toBeLessThanOrEqual(7);
  await snapshots.stop();
});

test('a start from the local copy works without the database, and the first load replaces all of it', async () => {
  const organisations = [{ id: 'org_1', row_version: 3, row: { id: 'org_1', data_layer: DEFAULT_DATA_LAYER } }];
  const known: (number | undefined)[] = [];
  let away = true;
  const snapshots = await startSnapshot({
    ...deps,
    metrics: createMetrics(),
    startFrom: { version: 4, urgent_version: 0, ...NOTHING, organisations },
    readVersion: async () => ({ version: 4, urgent_version: 0 }),
    async loadRows(have) {
      if (away) throw new Error('connect ECONNREFUSED');
      known.push(have.get('org_1'));
      return { version: 4, urgent_version: 0, ...NOTHING, organisations };
    },
  });
  expect([snapshots.current().version, snapshots.databaseAvailable]).toEqual([4, false]);
  await expect(snapshots.reload()).rejects.toThrow('ECONNREFUSED');
  expect(snapshots.databaseAvailable).toBe(false);
  away = false;
  await snapshots.reload();
  expect(snapshots.databaseAvailable).toBe(true);
  await snapshots.reload();
  expect(known).toEqual([undefined, 3]);
  await snapshots.stop();
});

test('a load that fails while stopping does not fail the stop (the stores stayed open)', async () => {
  const load = Promise.withResolvers<never>();
  let loads = 0;
  const snapshots = await startSnapshot({
    ...deps,
    metrics: createMetrics(),
    readVersion: async () => ({ version: 1, urgent_version: 0 }),
    loadRows: async () => (++loads === 1 ? { version: 1, urgent_version: 0, ...NOTHING } : await load.promise),
  });
  const failed = expect(snapshots.reload()).rejects.toThrow('Connection terminated');
  const stopping = snapshots.stop();
  load.reject(new Error('Connection terminated'));
  await failed;
  await stopping;
});
