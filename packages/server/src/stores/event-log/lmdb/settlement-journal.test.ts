import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type JournalEntry, SettlementJournal } from './settlement-journal.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'firsthand-journal-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
/** What the next process finds. */
function found(path: string): JournalEntry[] {
  const { journal, left } = SettlementJournal.open(path);
  journal.close();
  return left.map(({ settled, appends }) => ({ settled, appends: appends.map(plain) }));
}
const plain = ({ topic, records }: JournalEntry['appends'][number]) => ({
  topic,
  records: records.map(({ id, data }) => ({ id, data: Buffer.from(data) })),
});
function begun(path: string): SettlementJournal {
  const { journal } = SettlementJournal.open(path);
  journal.begin();
  onTestFinished(() => journal.close());
  return journal;
}
const entry = (seq: number, text = `outcome of ${seq}`): JournalEntry => ({
  settled: [7, seq],
  appends: [{ topic: 'outcomes', records: [{ id: `id ${seq}`, data: Buffer.from(text) }] }],
});

test('nothing is left in a new folder', () => {
  expect(found(folder())).toEqual([]);
});

test('any journal come back as they were', () => {
  const records = fc.array(fc.record({ id: fc.string({ unit: 'binary' }), data: fc.uint8Array().map((bytes) => Buffer.from(bytes)) }));
  const any = fc.record({ settled: fc.array(fc.nat()), appends: fc.array(fc.record({ topic: fc.string(), records })) });
  fc.assert(
    fc.property(fc.array(any), (all) => {
      const path = folder();
      const journal = begun(path);
      for (const one of all) expect(journal.add(one)).toBe(true);
      expect(found(path)).toEqual(all);
    }),
    { numRuns: 50 },
  );
});

test('a truncated journal returns the complete entries before the cut', () => {
  const path = folder();
  const file = join(path, 'noted.0');
  const journal = begun(path);
  const ends: number[] = [];
  for (let seq = 1; seq <= 5; seq++) {
    journal.add(entry(seq));
    ends.push(readFileSync(file).length);
  }
  const whole = readFileSync(file);
  for (let cut = whole.length; cut >= 0; cut--) {
    truncateSync(file, cut);
    expect(found(path).map(({ settled }) => settled[1])).toEqual([1, 2, 3, 4, 5].slice(0, ends.filter((end) => end <= cut).length));
  }
});

test('reading stops at the first flipped bit', () => {
  const path = folder();
  const file = join(path, 'noted.0');
  const journal = begun(path);
  journal.add(entry(1));
  const first = readFileSync(file).length;
  journal.add(entry(2));
  const whole = readFileSync(file);
  for (let at = first; at < whole.length; at++) {
    const broken = Buffer.from(whole);
    broken[at]! ^= 1;
    writeFileSync(file, broken);
    expect(found(path).map(({ settled }) => settled[1])).toEqual([1]);
  }
});

test('a turn keeps the previous journal and overwrites older ones', () => {
  const path = folder();
  const journal = begun(path);
  const left = () => found(path).map(({ settled }) => settled[1]);
  for (const seq of [1, 2, 3]) journal.add(entry(seq));
  journal.turn();
  journal.ended(true);
  journal.add(entry(4));
  expect(left()).toEqual([1, 2, 3, 4]);
  journal.turn();
  journal.ended(true);
  // As long as the first was: the second of the old ones would be read on, were it not for the number of the turn.
  journal.add(entry(5));
  expect(left()).toEqual([4, 5]);
});

test('entries of a failed commit stay until a commit succeeds', () => {
  const path = folder();
  const journal = begun(path);
  const left = () => found(path).map(({ settled }) => settled[1]);
  journal.add(entry(1));
  journal.turn();
  journal.add(entry(2));
  journal.ended(false);
  journal.turn();
  journal.add(entry(3));
  journal.ended(false);
  expect(left()).toEqual([1, 2, 3]);
  journal.turn();
  journal.ended(true);
  journal.turn();
  journal.add(entry(4));
  expect(left()).toEqual([2, 3, 4]);
});

test('committed entries are removed', () => {
  const path = folder();
  begun(path).add(entry(1));
  expect(found(path)).toHaveLength(1);
  begun(path);
  expect(found(path)).toEqual([]);
});
