import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Ephemeral } from '../stores/ephemeral/port.ts';
import type { Limit } from './limit-account.ts';
import { createSharedLimits, type Limiter, type SharedLimits } from './shared-limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/** Frames between simulated processes, delivered after `delayMs`. A process that is cut off neither sends nor hears. */
class Network {
  readonly #listeners = new Map<string, Set<{ process: number; listener: (message: unknown) => void }>>();
  readonly cut = new Set<number>();
  frames = 0;
  readonly #delayMs: number;
  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }
  of(process: number): Ephemeral {
    return {
      publish: (channel, message) => {
        if (this.cut.has(process)) return;
        this.frames++;
        const text = JSON.stringify(message);
        setTimeout(() => {
          for (const each of this.#listeners.get(channel) ?? []) if (!this.cut.has(each.process)) each.listener(JSON.parse(text));
        }, this.#delayMs);
      },
      subscribe: (channel, listener) => {
        const own = { process, listener };
        const all = this.#listeners.get(channel) ?? new Set();
        this.#listeners.set(channel, all.add(own));
        return () => void all.delete(own);
      },
      close: async () => {},
    };
  }
}

interface Cluster {
  network: Network;
  limiters: Limiter[];
  stop(): void;
}
async function startCluster(size: number, options: { delayMs?: number; credit?: boolean } = {}): Promise<Cluster> {
  const network = new Network(options.delayMs ?? 2);
  let seed = 1;
  const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const all: SharedLimits[] = Array.from({ length: size }, (_, n) => createSharedLimits({ ephemeral: network.of(n), clock, random }));
  const limiters = all.map((limits) => limits.limiter('test', { credit: options.credit ?? true }));
  // Later than a change of the members makes new accounts start with little of their burst.
  await vi.advanceTimersByTimeAsync(6_000);
  return {
    network,
    limiters,
    stop: () => {
      for (const limits of all) limits.stop();
    },
  };
}

/** Offers `perSecond[n]` requests a second to process n, and counts what each admits. */
async function offer(
  { limiters }: Pick<Cluster, 'limiters'>,
  limit: Limit,
  perSecond: number[],
  seconds: number,
  id = 'key',
): Promise<number[]> {
  const admitted = limiters.map(() => 0);
  const due = limiters.map(() => 0);
  for (let ms = 0; ms < seconds * 1_000; ms++) {
    for (const [n, limiter] of limiters.entries())
      for (due[n]! += perSecond[n]! / 1_000; due[n]! >= 1; due[n]!--) if (limiter.take(id, limit) === 0) admitted[n]!++;
    await vi.advanceTimersByTimeAsync(1);
  }
  return admitted;
}
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);
const rateOf = (per_second: number): Limit => ({ kind: 'rate', per_second, burst: Math.max(1, per_second) });

describe('far above the limit, all processes together admit the limit ± 10 %', () => {
  test.each([
    ['2 processes, even', 1_000, [5_000, 5_000]],
    ['2 processes, one busy', 1_000, [9_000, 200]],
    ['2 processes, all on one', 1_000, [5_000, 0]],
    ['3 processes', 300, [900, 900, 900]],
    ['8 processes', 1_000, Array(8).fill(1_000)],
    ['a low rate', 10, [100, 100]],
    ['a very low rate', 1, [20, 20, 20]],
  ] as [string, number, number[]][])('%s', async (_, rate, perSecond) => {
    const cluster = await startCluster(perSecond.length);
    const seconds = 20;
    const admitted = sum(await offer(cluster, rateOf(rate), perSecond, seconds));
    const allowed = rate * seconds + Math.max(1, rate);
    expect(admitted).toBeGreaterThanOrEqual(Math.floor(allowed * 0.9));
    expect(admitted).toBeLessThanOrEqual(Math.ceil(allowed * 1.1));
    cluster.stop();
  });

  test.each([
    ['2 processes', 100, [10, 10]],
    ['4 processes', 100, [50, 5, 5, 5]],
    ['a low limit', 10, [5, 5]],
  ] as [string, number, number[]][])('a minute, %s', async (_, most, perSecond) => {
    const cluster = await startCluster(perSecond.length);
    const admitted = sum(await offer(cluster, { kind: 'window', most, window_ms: 60_000 }, perSecond, 50));
    expect(admitted).toBeGreaterThanOrEqual(most * 0.9);
    expect(admitted).toBeLessThanOrEqual(most * 1.1);
    cluster.stop();
  });

  test('every process gets a part of it', async () => {
    const cluster = await startCluster(2);
    const [a, b] = await offer(cluster, rateOf(1_000), [5_000, 5_000], 10);
    expect(Math.min(a!, b!)).toBeGreaterThan(1_000);
    cluster.stop();
  });

  test('a slow network changes nothing', async () => {
    const cluster = await startCluster(3, { delayMs: 50 });
    const admitted = sum(await offer(cluster, rateOf(500), [2_000, 2_000, 2_000], 20));
    expect(admitted).toBeGreaterThan(500 * 21 * 0.9);
    expect(admitted).toBeLessThan(500 * 21 * 1.1);
    cluster.stop();
  });
});

test('below the limit every request is admitted, wherever it arrives', async () => {
  const cluster = await startCluster(3);
  expect(await offer(cluster, rateOf(1_000), [250, 250, 250], 5)).toEqual([1_250, 1_250, 1_250]);
  expect(await offer(cluster, rateOf(1_000), [875, 0, 0], 8, 'other')).toEqual([7_000, 0, 0]);
  cluster.stop();
});

test('a batch is charged to the limit of all processes', async () => {
  const cluster = await startCluster(2);
  const [a, b] = cluster.limiters;
  expect(a!.take('key', rateOf(100))).toBe(0);
  a!.charge('key', rateOf(100), 499);
  await vi.advanceTimersByTimeAsync(300);
  // The first request may be admitted on credit; its answer brings the debt.
  b!.take('key', rateOf(100));
  await vi.advanceTimersByTimeAsync(300);
  expect(b!.take('key', rateOf(100))).toBeGreaterThan(2_500);
  cluster.stop();
});

test('without credit nothing is admitted before the keeper has answered, and the limit holds exactly', async () => {
  const cluster = await startCluster(4, { credit: false });
  const admitted = sum(await offer(cluster, { kind: 'rate', per_second: 50, burst: 10 }, [200, 200, 200, 200], 20));
  expect(admitted).toBeLessThanOrEqual(50 * 20 + 10 + 1);
  expect(admitted).toBeGreaterThan(50 * 20 * 0.9);
  cluster.stop();
});

test.each([0, 1, 2])('process %i dies, and the others go on with at most the limit', async (dead) => {
  const cluster = await startCluster(3);
  await offer(cluster, rateOf(300), [900, 900, 900], 5);
  cluster.network.cut.add(dead);
  const left = { limiters: cluster.limiters.filter((_, n) => n !== dead) };
  // The keeper's death may reduce the rate to equal parts for four seconds.
  const during = sum(await offer(left, rateOf(300), [900, 900], 5));
  expect(during).toBeGreaterThan(300 * 5 * 0.5);
  expect(during).toBeLessThan(300 * 5 * 1.35);
  const after = sum(await offer(left, rateOf(300), [900, 900], 10));
  expect(after).toBeGreaterThan(300 * 10 * 0.9);
  expect(after).toBeLessThan(300 * 10 * 1.1);
  cluster.stop();
});

test('the death of a keeper rejects nobody who stays far below the limit', async () => {
  const cluster = await startCluster(3);
  const limits = Array.from({ length: 6 }, (_, n) => `key-${n}`);
  const offerAll = () => Promise.all(limits.map((id) => offer(cluster, rateOf(1_000_000), [20, 20, 20], 1, id)));
  await offerAll();
  cluster.network.cut.add(0);
  for (let second = 0; second < 6; second++) for (const admitted of await offerAll()) expect(admitted.slice(1)).toEqual([20, 20]);
  cluster.stop();
});

test('a keeper is asked a few dozen times a second, not once per request', async () => {
  const cluster = await startCluster(2);
  cluster.network.frames = 0;
  await offer(cluster, rateOf(1_000), [5_000, 5_000], 10);
  expect(cluster.network.frames / 10).toBeLessThan(150);
  cluster.stop();
});
