import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Environment, openEnvironment } from './environment.ts';
import { IdTree } from './id-tree.ts';

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

const digestOf = (id: string) => hash('sha1', id, 'binary');
const open = () => new IdTree(environment.store('ids'));
const put = (tree: IdTree, ids: string[], time: number) =>
  environment.commit(() => {
    for (const id of ids) tree.put(Buffer.from(digestOf(id), 'latin1'), time);
  });
const ids = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}-${i}`);

test('finds its ids before, while and after its filter is built', async () => {
  const old = ids('old', 11_000);
  await put(open(), old, 7);
  const tree = open();
  const fresh: string[] = [];
  for (let round = 0; round < 10; round++) {
    for (const id of old) expect(tree.get(digestOf(id))).toBe(7);
    for (const id of fresh) expect(tree.get(digestOf(id))).toBe(8);
    for (const id of ids('strange', 50)) expect(tree.get(digestOf(id))).toBeUndefined();
    await put(tree, ids(`fresh-${round}`, 40), 8);
    fresh.push(...ids(`fresh-${round}`, 40));
    tree.tend();
  }
});

test('a removed id is unknown and can be added again', async () => {
  const tree = open();
  await put(tree, ['a', 'b'], 1);
  await environment.commit(() => tree.remove(digestOf('a')));
  expect([tree.get(digestOf('a')), tree.get(digestOf('b'))]).toEqual([undefined, 1]);
  await put(tree, ['a'], 2);
  expect(tree.get(digestOf('a'))).toBe(2);
});

test('a full filter is rebuilt, and no id is forgotten meanwhile', async () => {
  const tree = open();
  // An eighth of the places of the smallest filter, and some more.
  const all = ids('id', 263_000);
  for (let i = 0; i < all.length; i += 10_000) await put(tree, all.slice(i, i + 10_000), 3);
  const some = all.filter((_, i) => i % 100 === 0);
  for (let round = 0, more = true; more; round++) {
    more = tree.tend();
    if (round % 45 === 0) for (const id of some) expect(tree.get(digestOf(id))).toBe(3);
  }
  for (const id of some) expect(tree.get(digestOf(id))).toBe(3);
  expect(tree.get(digestOf('strange'))).toBeUndefined();
});
