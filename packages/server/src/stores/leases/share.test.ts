import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { LeaseBucket } from './bucket.ts';
import { BEAT_MS, Share } from './share.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A bucket in memory. `lists` counts how often a process has asked who is there. */
function memoryBucket() {
  const members = new Set<string>();
  const owners = new Map<string, { owner: string; revision: number }>();
  const listeners = new Set<() => void>();
  let revision = 0;
  const bucket = {
    lists: 0,
    /** Processes that cannot reach the bucket. */
    away: new Set<string>(),
    writeMember: async (key: string) => {
      if (bucket.away.has(key.slice(key.lastIndexOf('.') + 1))) throw new Error('away');
      members.add(key);
      return ++revision;
    },
    memberRevision: async (key: string) => (members.has(key) ? revision : undefined),
    writeOwner: async (key: string, owner: string, replaced: number) => {
      if ((owners.get(key)?.revision ?? 0) !== replaced) return undefined;
      owners.set(key, { owner, revision: ++revision });
      return revision;
    },
    owner: async (key: string) => owners.get(key) ?? { owner: '', revision: 0 },
    members: async (prefix: string) => {
      bucket.lists++;
      return new Set([...members].filter((key) => key.startsWith(`${prefix}.`)).map((key) => key.slice(prefix.length + 1)));
    },
    purgeMember: async (key: string) => void members.delete(key),
    announce: () => listeners.forEach((listener) => void listener()),
    onReleased: (_: string, listener: () => void) => {
      listeners.add(listener);
      return { unsubscribe: () => void listeners.delete(listener) };
    },
  };
  return bucket;
}

/** `lostMs`: how long the work on a lost name takes to stop. */
function join(bucket: ReturnType<typeof memoryBucket>, own: string, names: string[], lostMs = 0) {
  const held = new Set<string>();
  const share = new Share({
    bucket: bucket as unknown as LeaseBucket,
    own,
    set: 'set',
    names,
    callbacks: {
      won: async (name) => void held.add(name),
      async lost(name) {
        if (lostMs > 0) await new Promise((resolve) => setTimeout(resolve, lostMs));
        held.delete(name);
      },
    },
    clock: { monotonic: () => performance.now() },
    onError: (error) => {
      if (!bucket.away.has(own)) throw error;
    },
  });
  const beats = setInterval(() => share.beat(), BEAT_MS);
  return {
    held,
    /** Its key expires at once. */
    async die() {
      clearInterval(beats);
      bucket.away.add(own);
      await bucket.purgeMember(`member.set.${own}`);
    },
    async stop() {
      clearInterval(beats);
      await share.stop();
    },
  };
}

test('a process that holds every name rests, and gives half of them to one that joins', async () => {
  const bucket = memoryBucket();
  const names = ['a', 'b', 'c', 'd'];
  const first = join(bucket, '00000001', names);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(first.held.size).toBe(4);
  const asked = bucket.lists;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(bucket.lists - asked).toBe(2);
  const second = join(bucket, '00000002', names);
  // Less than a turn later: it need not wait until the first one looks again.
  await vi.advanceTimersByTimeAsync(500);
  expect([first.held.size, second.held.size]).toEqual([2, 2]);
  const before = bucket.lists;
  await vi.advanceTimersByTimeAsync(3_000);
  // Each holds a part, and looks every second whether the other is still there.
  expect(bucket.lists - before).toBeGreaterThanOrEqual(6);
  await Promise.all([first.stop(), second.stop()]);
});

test('names that a process lost in an outage are taken by another one, although the first lives on with other names', async () => {
  const bucket = memoryBucket();
  const names = ['a', 'b', 'c', 'd'];
  const first = join(bucket, '00000001', names, 6_000);
  const second = join(bucket, '00000002', names);
  await vi.advanceTimersByTimeAsync(20_000);
  expect([first.held.size, second.held.size]).toEqual([2, 2]);
  bucket.away.add('00000001').add('00000002');
  await vi.advanceTimersByTimeAsync(5_000);
  for (const own of bucket.away) await bucket.purgeMember(`member.set.${own}`);
  // The first is back while the work on its own names still ends, so it takes those of the other.
  bucket.away.delete('00000001');
  await vi.advanceTimersByTimeAsync(1_500);
  bucket.away.delete('00000002');
  await vi.advanceTimersByTimeAsync(60_000);
  expect([first.held.size, second.held.size]).toEqual([2, 2]);
  expect(new Set([...first.held, ...second.held]).size).toBe(4);
  const stopped = Promise.all([first.stop(), second.stop()]);
  await vi.advanceTimersByTimeAsync(20_000);
  await stopped;
});

test('a process hands over all excess names at once, however long the work on each takes to stop', async () => {
  const bucket = memoryBucket();
  const names = Array.from({ length: 12 }, (_, n) => `name-${n}`);
  const first = join(bucket, '00000001', names, 8_000);
  await vi.advanceTimersByTimeAsync(1_500);
  const second = join(bucket, '00000002', names);
  await vi.advanceTimersByTimeAsync(9_500);
  expect([first.held.size, second.held.size]).toEqual([6, 6]);
  const stopped = Promise.all([first.stop(), second.stop()]);
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
});

test('a process that hands names over takes those of a dead one meanwhile', async () => {
  const bucket = memoryBucket();
  const names = Array.from({ length: 6 }, (_, n) => `name-${n}`);
  const first = join(bucket, '00000001', names, 8_000);
  const second = join(bucket, '00000002', names);
  await vi.advanceTimersByTimeAsync(20_000);
  expect([first.held.size, second.held.size]).toEqual([3, 3]);
  const third = join(bucket, '00000003', names);
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all([second.die(), third.die()]);
  await vi.advanceTimersByTimeAsync(2_000);
  // The work on the name for the third one has not stopped yet.
  expect(first.held.size).toBe(6);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(first.held.size).toBe(6);
  const stopped = first.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
});

test('released names are taken whoever is alive (a handover waited for a write and two more lists)', async () => {
  const bucket = memoryBucket();
  const names = ['a', 'b', 'c', 'd'];
  const first = join(bucket, 'first', names);
  await vi.waitFor(() => expect(first.held.size).toBe(4));
  await first.stop();
  const members = vi.spyOn(bucket, 'members');
  const second = join(bucket, 'second', names);
  await vi.waitFor(() => expect(second.held.size).toBe(4));
  expect(members.mock.calls.map(([prefix]) => prefix)).not.toContain('leaving.set');
  await second.stop();
});

test('work ends while a process that stops leaves the members, and no name is released before (one came after the other)', async () => {
  const bucket = memoryBucket();
  const first = join(bucket, 'first', ['a', 'b']);
  await vi.waitFor(() => expect(first.held.size).toBe(2));
  const { promise: purged, resolve: purge } = Promise.withResolvers<undefined>();
  vi.spyOn(bucket, 'purgeMember').mockReturnValueOnce(purged);
  const released = vi.spyOn(bucket, 'writeOwner');
  const stopped = first.stop();
  await vi.waitFor(() => expect(first.held.size).toBe(0));
  expect(released).not.toHaveBeenCalled();
  purge(undefined);
  await stopped;
  expect(released.mock.calls.map(([, owner]) => owner)).toEqual(['', '']);
});
