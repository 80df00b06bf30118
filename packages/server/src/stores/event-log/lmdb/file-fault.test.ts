import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Environment, openEnvironment, type Store } from './environment.ts';
import { logFileFault } from './file-fault.ts';

const PAGE = 4_096;
const folder = mkdtempSync(join(tmpdir(), 'firsthand-file-fault-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = (n: number) => Buffer.from(`k${String(n).padStart(8, '0')}`);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

async function filled(name: string, bytes: number, use?: (environment: Environment, store: Store) => Promise<void>): Promise<string> {
  const path = join(folder, name);
  const environment = openEnvironment({
    path,
    onFatal(error) {
      throw error;
    },
  });
  const store = environment.store('records');
  await environment.commit(() => {
    for (const n of range(0, 200)) store.put(key(n), Buffer.alloc(bytes, 7));
  });
  await use?.(environment, store);
  await environment.close();
  return join(path, 'data.mdb');
}

/** LMDB counts pages from 0: the last one that it has given out, in the newer of its first two pages. */
function lastPage(file: string): number {
  const bytes = readFileSync(file);
  const [first, second] = [0, PAGE].map((at) => ({ txn: bytes.readBigUInt64LE(at + 152), last: Number(bytes.readBigUInt64LE(at + 144)) }));
  return first!.txn > second!.txn ? first!.last : second!.last;
}

test.each([100, 3_000, 40_000])('a file that ends before its free pages is whole: values of %i bytes', async (bytes) => {
  const file = await filled(`free-${bytes}`, bytes, async (environment, store) => {
    const temporary = range(1_000, 2_000);
    await environment.commit(() => {
      for (const n of temporary) store.put(key(n), Buffer.alloc(bytes));
      for (const n of temporary) store.remove(key(n));
    });
    await environment.commit(() => {
      for (const n of range(0, 200)) store.remove(key(n));
    });
  });
  expect(logFileFault(file)).toBeUndefined();
  // All of it is free: LMDB opens a file without these pages, as it leaves the last ones out itself.
  const all = statSync(file).size;
  const ends = range(1, 40).map((n) => all - n * PAGE);
  for (const end of ends) {
    const copy = join(folder, 'cut.mdb');
    copyFileSync(file, copy);
    truncateSync(copy, end);
    const fault = logFileFault(copy);
    if (fault !== undefined) expect(fault).toMatch(/^it is cut off/);
    else await expect(reopened(copy)).resolves.toBe(0);
  }
});

/** How many records it holds, after a write. */
async function reopened(file: string): Promise<number> {
  const path = mkdtempSync(join(folder, 'reopened-'));
  copyFileSync(file, join(path, 'data.mdb'));
  const environment = openEnvironment({
    path,
    onFatal(error) {
      throw error;
    },
  });
  const store = environment.store('records');
  const found = [...store.getKeys()].length;
  await environment.commit(() => store.put(key(1), Buffer.alloc(100_000)));
  await environment.close();
  return found;
}

test('LMDB does leave free pages at the end out', async () => {
  const file = await filled('shorter', 100, async (environment, store) => {
    await environment.commit(() => {
      for (const n of range(1_000, 2_000)) store.put(key(n), Buffer.alloc(100));
      for (const n of range(1_000, 2_000)) store.remove(key(n));
    });
    await environment.commit(() => {
      for (const n of range(0, 200)) store.remove(key(n));
    });
  });
  expect(statSync(file).size / PAGE).toBeLessThan(lastPage(file) + 1);
  expect(logFileFault(file)).toBeUndefined();
  await expect(reopened(file)).resolves.toBe(0);
});

describe('damage', () => {
  let whole: string;
  beforeAll(async () => {
    whole = await filled('whole', 2_000);
  });

  test.each<[string, (file: string, size: number) => void]>([
    ['its last page is missing', (file, size) => truncateSync(file, size - PAGE)],
    ['part of its last page is missing', (file, size) => truncateSync(file, size - 1)],
    ['half of it is missing', (file, size) => truncateSync(file, size / 2)],
    ['all but its head is missing', (file) => truncateSync(file, 2 * PAGE)],
    ['all but a page is missing', (file) => truncateSync(file, PAGE)],
    ['all but a few bytes are missing', (file) => truncateSync(file, 100)],
    ['it is text', (file, size) => writeFileSync(file, 'x'.repeat(size))],
    ['it is zeros', (file, size) => writeFileSync(file, Buffer.alloc(size))],
    [
      'its pages are zeros',
      (file, size) => writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, 2 * PAGE), Buffer.alloc(size - 2 * PAGE)])),
    ],
  ])('a fault: %s', (_what, damage) => {
    expect(logFileFault(whole)).toBeUndefined();
    const file = join(folder, 'damaged.mdb');
    copyFileSync(whole, file);
    damage(file, statSync(whole).size);
    expect(logFileFault(file)).toMatch(/^it is (cut off|not a file of the log)/);
  });
});
