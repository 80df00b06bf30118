import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Slice, Sums } from './sums.ts';

function slice(over: Partial<Slice>): Slice {
  return { runner: 'collection', cases: 28, faults: 0, stall: { wall: 60, cpu: 10 }, peakMb: 300, next: 1, seconds: 2, ...over };
}

test('a later run continues behind all slices of its runner, and adds up', () => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-sums-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sums.jsonl');
  const first = new Sums(file);
  expect([first.cases('collection'), first.next('collection')]).toEqual([0, 0]);
  first.add(slice({ next: 4, cases: 112 }));
  first.add(slice({ runner: 'schema', next: 9, cases: 1_000 }));
  const second = new Sums(file);
  expect([second.cases('collection'), second.next('collection'), second.next('schema')]).toEqual([112, 4, 9]);
  expect(second.add(slice({ next: 6, faults: 1, stall: { wall: 90, cpu: 5 }, peakMb: 280 }))).toBe(
    'collection, 2 slices: 140 cases in 4 s, 1 wrong; longest stall 90 ms, own work 10 ms; private memory 300 MB at most',
  );
});
