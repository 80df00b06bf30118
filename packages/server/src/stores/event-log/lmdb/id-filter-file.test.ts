import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { IdFilter } from './id-filter.ts';
import { loadFilter, saveFilter } from './id-filter-file.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-filter-'));
  path = join(folder, 'ids.filter');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const digestOf = (id: string) => hash('sha1', id, 'binary');
const STATE = Buffer.from(digestOf('state'), 'latin1');
const ids = Array.from({ length: 1_000 }, (_, i) => `id-${i}`);
function filled(): IdFilter {
  const filter = new IdFilter(14);
  for (const id of ids) filter.add(Buffer.from(digestOf(id), 'latin1'));
  return filter;
}

test('a filter comes back as it was saved', async () => {
  const saved = filled();
  await saveFilter(path, saved, STATE);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const loaded = loadFilter(path, STATE);
  expect(ids.filter((id) => !loaded?.mayHold(digestOf(id)))).toEqual([]);
  expect([loaded?.words, loaded?.added, loaded?.full]).toEqual([saved.words, 1_000, false]);
});

test('a file of another state, a damaged one and none at all count for nothing', async () => {
  expect(loadFilter(path, STATE)).toBeUndefined();
  await saveFilter(path, filled(), STATE);
  expect(loadFilter(path, Buffer.from(digestOf('another'), 'latin1'))).toBeUndefined();
  const whole = readFileSync(path);
  for (const at of [0, 5, 40, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    expect(loadFilter(path, STATE), `byte ${at}`).toBeUndefined();
  }
  for (const length of [0, 3, 31, 32, 33, 36, 1_056, whole.length - 4]) {
    writeFileSync(path, whole.subarray(0, length));
    expect(loadFilter(path, STATE), `${length} bytes`).toBeUndefined();
  }
});
