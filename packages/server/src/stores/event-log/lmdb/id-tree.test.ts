import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Environment, openEnvironment } from './environment.ts';
import { IdTree } from './id-tree.ts';
import { journalKey } from './keys.ts';

let path: string;
let environment: Environment;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'firsthand-ids-'));
  environment = openEnvironment({
    path,
    onFatal: (error) => {
      throw error;
    },
  });
});
afterEach(async () => {
  await environment.close();
  rmSync(path, { recursive: true, force: true });
});

const BUCKET = 100;
const digestOf = (id: string) => hash('sha1', id, 'binary');
const open = () => new IdTree(environment.store('ids'), environment.store('journal'), BUCKET);
let entries = 0;
/** As a commit and the later move of its ids do it. */
const put = (tree: IdTree, ids: string[], time: number) =>
  environment.commit(() => {
    const head = Buffer.alloc(8);
    head.writeDoubleBE(time);
    const digests = ids.map((id) => Buffer.from(digestOf(id), 'latin1'));
    environment.store('journal').put(journalKey(++entries), Buffer.concat([head, ...digests]));
    for (const digest of digests) tree.put(digest, time);
  });
const ids = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);
/** The ids for which the tree has another time than this one. */
const not = (time: number | undefined, tree: IdTree, among: string[]) => among.filter((id) => tree.get(digestOf(id), 0) !== time);

test('finds its ids before, while and after its filter is built', async () => {
  const old = ids('old', 11_000);
  const before = open();
  for (let i = 0; i < old.length; i += 500) await put(before, old.slice(i, i + 500), 7);
  const tree = open();
  const fresh: string[] = [];
  for (let round = 0; round < 10; round++) {
    expect(not(7, tree, old)).toEqual([]);
    expect(not(8, tree, fresh)).toEqual([]);
    expect(not(undefined, tree, ids('strange', 50))).toEqual([]);
    await put(tree, ids(`fresh-${round}`, 40), 8);
    fresh.push(...ids(`fresh-${round}`, 40));
    tree.tend();
  }
});

test('finds the newest time of an id, and nothing from before the window', async () => {
  const tree = open();
  await put(tree, ['a', 'b'], 50);
  await put(tree, ['a'], 250);
  for (const each of [tree, open()]) {
    expect(each.get(digestOf('a'), 0)).toBe(250);
    expect(each.get(digestOf('b'), 0)).toBe(50);
    expect(each.get(digestOf('b'), 50)).toBeUndefined();
    expect(each.get(digestOf('a'), 249)).toBe(250);
  }
});

test('removes whole buckets, oldest first, some ids at a time', async () => {
  const tree = open();
  await put(tree, ids('first', 30), 10);
  await put(tree, ids('second', 30), 110);
  expect(tree.hasExpired(99)).toBe(false);
  expect(tree.expire(99, 10).ids).toBe(0);
  expect(tree.hasExpired(100)).toBe(true);
  const removed: number[] = [];
  while (tree.hasExpired(100)) {
    const { ids: count, write } = tree.expire(100, 20);
    await environment.commit(write);
    removed.push(count);
  }
  expect(removed).toEqual([20, 10, 0]);
  expect(tree.get(digestOf('first-1'), 0)).toBeUndefined();
  expect(tree.get(digestOf('second-1'), 0)).toBe(110);
  expect(environment.store('ids').getKeysCount({})).toBe(30);
});

test('a full filter is rebuilt, and no id is forgotten meanwhile', async () => {
  const tree = open();
  // An eighth of the places of the smallest filter, and some more.
  const all = ids('id', 263_000);
  for (let i = 0; i < all.length; i += 10_000) await put(tree, all.slice(i, i + 10_000), 3);
  const some = all.filter((_, i) => i % 100 === 0);
  for (let round = 0, more = true; more; round++) {
    more = tree.tend();
    if (round % 45 === 0) expect(not(3, tree, some)).toEqual([]);
  }
  expect(not(3, tree, some)).toEqual([]);
  expect(tree.get(digestOf('strange'), 0)).toBeUndefined();
});
