import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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
const LAST = { number: 4_294_967_297, digest: Buffer.from(digestOf('entry'), 'latin1') };
const ids = Array.from({ length: 1_000 }, (_, i) => `id-${i}`);
function filled(): IdFilter {
  const filter = new IdFilter(14);
  for (const id of ids) filter.add(Buffer.from(digestOf(id), 'latin1'));
  return filter;
}

test('a filter comes back as it was saved', async () => {
  const saved = filled();
  await saveFilter(path, { filter: saved, last: LAST });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['ids.filter']);
  const { filter, last } = loadFilter(path)!;
  expect(ids.filter((id) => !filter.mayHold(digestOf(id)))).toEqual([]);
  expect([filter.words, filter.added, filter.full]).toEqual([saved.words, 1_000, false]);
  expect(last).toEqual(LAST);
});

test('ids that are added while it is saved do no harm', async () => {
  const growing = new IdFilter(25);
  for (const id of ids) growing.add(Buffer.from(digestOf(id), 'latin1'));
  const saving = saveFilter(path, { filter: growing, last: LAST });
  let isSaved = false;
  void saving.then(() => (isSaved = true));
  for (let i = 0; !isSaved; i++) {
    growing.add(Buffer.from(digestOf(`late-${i}`), 'latin1'));
    if (i % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await saving;
  const { filter } = loadFilter(path)!;
  expect(ids.filter((id) => !filter.mayHold(digestOf(id)))).toEqual([]);
});

test('a damaged file and none at all count for nothing', async () => {
  expect(loadFilter(path)).toBeUndefined();
  await saveFilter(path, { filter: filled(), last: LAST });
  const whole = readFileSync(path);
  for (const at of [0, 5, 13, 21, 45, whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    expect(loadFilter(path), `byte ${at}`).toBeUndefined();
  }
  for (const length of [0, 3, 39, 40, 41, 44, 1_064, whole.length - 4]) {
    writeFileSync(path, whole.subarray(0, length));
    expect(loadFilter(path), `${length} bytes`).toBeUndefined();
  }
});
