import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Deduplication } from './deduplication.ts';
import { type Environment, openEnvironment } from './environment.ts';
import { journalKey, metaKeys } from './keys.ts';

const WINDOW = 1_000;
let path: string;
let environment: Environment;
let known: Deduplication;
let now = 10_000;
const open = () => {
  environment = openEnvironment({
    path,
    onFatal: (error) => {
      throw error;
    },
  });
  known = new Deduplication(environment, WINDOW, () => now);
};
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'firsthand-dedup-'));
  open();
});
afterEach(async () => {
  await environment.close();
  rmSync(path, { recursive: true, force: true });
});

/** One commit with these ids; says which were new. */
async function commit(ids: string[]): Promise<boolean[]> {
  known.begin();
  const admitted = ids.map((id) => known.admit('events', id));
  await environment.commit(() => known.write());
  known.committed();
  return admitted;
}
const ids = (from: number, count: number) => Array.from({ length: count }, (_, i) => `id-${from + i}`);
const size = (name: string) => environment.store(name).getKeysCount({});

test('ids stay known while they move from memory to the tree, and over a reopen at any point of it', async () => {
  const all = ids(0, 160_000);
  for (let i = 0; i < all.length; i += 1_600) {
    expect((await commit(all.slice(i, i + 1_600))).every(Boolean)).toBe(true);
    if (i === 80_000) {
      await environment.close();
      open();
    }
  }
  expect(size('ids')).toBeGreaterThan(40_000);
  for (let i = 0; i < all.length; i += 8_000) expect((await commit(all.slice(i, i + 8_000))).some(Boolean)).toBe(false);
  expect(known.lastKnownTime).toBe(10_000);
});

describe('a saved filter (85 events a second were accepted after a start)', () => {
  /** Steps until the filter is complete. Each reads 10,000 ids or their like in entries. */
  const steps = () => {
    let count = 1;
    while (known.tend()) count++;
    return count;
  };
  const reopen = async () => {
    await environment.close();
    open();
  };
  /** Ids among those below `count` that count as new. */
  const unknownOf = async (count: number) => {
    let unknown = 0;
    for (let i = 0; i < count; i += 16_000) unknown += (await commit(ids(i, 1_600))).filter(Boolean).length;
    return unknown;
  };
  const COUNT = 200_000;
  const STEPS = 18;
  beforeEach(async () => {
    for (let i = 0; i < COUNT; i += 1_600) await commit(ids(i, 1_600));
  });

  test('spares the next process the entries before it, and is saved again when it has more', async () => {
    await reopen();
    expect(steps(), 'nothing is saved').toBe(STEPS);
    await known.save();
    await reopen();
    expect(steps()).toBeLessThan(STEPS / 2);
    expect(await unknownOf(COUNT)).toBe(0);
  });

  test('serves after a kill, with the ids that came since', async () => {
    await known.save();
    for (let i = COUNT; i < COUNT + 64_000; i += 1_600) await commit(ids(i, 1_600));
    await reopen();
    expect(steps()).toBeLessThan(STEPS);
    expect(await unknownOf(COUNT + 64_000)).toBe(0);
    expect((await commit(ids(COUNT + 64_000, 10))).every(Boolean)).toBe(true);
  });

  test('of another log counts for nothing', async () => {
    await known.save();
    const saved = readFileSync(join(path, 'ids.filter'));
    await environment.close();
    rmSync(path, { recursive: true });
    open();
    for (let i = 0; i < COUNT; i += 1_600) await commit(ids(COUNT + i, 1_600));
    writeFileSync(join(path, 'ids.filter'), saved);
    await reopen();
    expect(steps()).toBe(STEPS);
  });
});

test('after the window ids are new again, and leave the disk', async () => {
  for (let i = 0; i < 20_000; i += 500) await commit(ids(i, 500));
  now += WINDOW + 1;
  expect(known.hasExpired).toBe(true);
  expect((await commit(['id-3', 'id-19999'])).every(Boolean)).toBe(true);
  now += WINDOW + 1;
  for (let i = 0; i < 60 && known.hasExpired; i++) {
    await commit([`later-${i}`]);
    await environment.commit(known.expire().write);
  }
  for (let i = 0; i < 200; i++) {
    await commit([]);
    await environment.commit(known.expire().write);
  }
  expect(size('ids')).toBeLessThan(200);
  expect(size('dedup-journal')).toBeLessThan(100);
});

test('new ids stay in memory while those that leave the window are in the tree already', async () => {
  const settle = async () => {
    for (let i = 0; i < 100; i++) await commit([]);
  };
  await commit(ids(0, 1_000));
  now += WINDOW * 0.6;
  await commit(ids(1_000, 1_000));
  // The first are past the window and only in memory: all move, and those that are past it are gone.
  now += WINDOW * 0.5;
  await settle();
  await environment.commit(known.expire().write);
  expect(size('ids')).toBe(1_000);
  // The second too now, but they are in the tree.
  now += WINDOW * 0.6;
  expect(known.hasExpired).toBe(true);
  await commit(ids(2_000, 1_000));
  await settle();
  expect(size('ids')).toBe(1_000);
  await environment.commit(known.expire().write);
  expect(size('ids')).toBe(0);
  expect((await commit(ids(2_000, 1_000))).some(Boolean)).toBe(false);
});

test('ids of a commit that failed are new the next time', async () => {
  known.begin();
  expect(known.admit('events', 'x')).toBe(true);
  known.failed();
  expect(await commit(['x'])).toEqual([true]);
  expect(await commit(['x'])).toEqual([false]);
});

test('a commit that fails while ids move to the tree moves them again', async () => {
  const all = ids(0, 66_000);
  await commit(all);
  known.begin();
  known.admit('events', 'x');
  // The transaction is never written.
  await expect(
    environment.root.transaction(() => {
      known.write();
      throw new Error('full');
    }),
  ).rejects.toThrow('full');
  known.failed();
  expect(await commit(['x'])).toEqual([true]);
  for (let i = 0; i < 1_200; i++) await commit([]);
  expect(size('ids')).toBe(66_000);
  expect((await commit(all)).some(Boolean)).toBe(false);
  await environment.close();
  open();
  expect((await commit([...all, 'x'])).some(Boolean)).toBe(false);
});

test('takes over the ids of a version that kept them in a tree without buckets', async () => {
  await commit(ids(0, 5_000));
  // What that version leaves: ids in its own tree, and the last journal entry that is there.
  await environment.commit(() => {
    environment.store('dedup').put(Buffer.alloc(20, 7), Buffer.alloc(8));
    environment.store('meta').put(metaKeys.drainedBefore, journalKey(1));
    environment.store('meta').put(metaKeys.drained, journalKey(1));
  });
  for (let start = 0; start < 2; start++) {
    await environment.close();
    open();
    expect((await commit(ids(0, 5_000))).some(Boolean)).toBe(false);
    expect(size('dedup')).toBe(0);
  }
});
