import { expect, test } from 'vitest';
import { decodeSummary, encodeSummary, type MessageIds, UnstoredIds } from './unstored-ids.ts';

const ids = (seq: number, count = 1): MessageIds => ({ seq, time: 1_700_000_000_000 + seq, hashes: Buffer.alloc(8 * count, seq) });

test('a summary is read as it was written; a torn one, or one of a later version, is none', () => {
  const summary = { created: 1_690_000_000_000, from: 2 ** 40, to: 2 ** 40 + 8, messages: [ids(2 ** 40, 3), ids(2 ** 40 + 7, 400)] };
  const bytes = encodeSummary(summary);
  const { visit, ...read } = decodeSummary(bytes) ?? { visit: () => {} };
  const messages: MessageIds[] = [];
  visit((message) => messages.push(message));
  const [first, last] = summary.messages;
  expect({ ...read, messages }).toEqual({ ...summary, first, last, ids: 403 });
  for (let length = 0; length < bytes.length; length++) expect(decodeSummary(bytes.subarray(0, length))).toBeUndefined();
  expect(decodeSummary(Buffer.concat([Buffer.of(2), bytes.subarray(1)]))).toBeUndefined();
});

test('summaries follow each other without a gap, also behind messages that were read from headers', () => {
  const unstored = new UnstoredIds();
  for (let seq = 10; seq < 2_500; seq++) unstored.add(ids(seq));
  expect(unstored.isFull).toBe(false);
  unstored.begin({ created: 1, from: 3, earlier: [ids(4), ids(9)], revision: 77 });
  expect(unstored.isFull).toBe(true);
  const stored = [];
  for (let summary = unstored.next(); summary; summary = unstored.next()) {
    stored.push(summary);
    unstored.stored(summary.to, 100 + stored.length);
  }
  expect(stored.map(({ from, to }) => [from, to])).toEqual([
    [3, 1_008],
    [1_008, 2_008],
  ]);
  expect(stored.flatMap(({ messages }) => messages.map(({ seq }) => seq)).slice(0, 4)).toEqual([4, 9, 10, 11]);
  expect(unstored.revision).toBe(102);
  // The rest waits for the next round.
  expect(unstored.round()).toBe(true);
  expect(unstored.next()).toMatchObject({ from: 2_008, to: 2_500 });
});

test('few messages are not summarised', () => {
  const unstored = new UnstoredIds();
  unstored.begin({ created: 1, from: 1, earlier: [], revision: 0 });
  for (let seq = 1; seq < 100; seq++) unstored.add(ids(seq));
  expect(unstored.round()).toBe(false);
  unstored.add(ids(100));
  expect(unstored.round()).toBe(true);
});

test('what another process has stored is left out, and the next rounds are left to it', () => {
  const unstored = new UnstoredIds();
  unstored.begin({ created: 1, from: 1, earlier: [], revision: 0 });
  for (let seq = 1; seq <= 1_200; seq++) unstored.add(ids(seq));
  unstored.storedByOther({ to: 900, last: ids(899) }, 5);
  for (let seq = 1_201; seq <= 3_000; seq++) unstored.add(ids(seq));
  expect([unstored.isFull, unstored.next()]).toEqual([false, undefined]);
  expect([unstored.round(), unstored.round(), unstored.round()]).toEqual([false, false, true]);
  expect(unstored.next()).toMatchObject({ from: 900, to: 1_900 });
  expect(unstored.revision).toBe(5);
});

test('what another process has stored of a stream with other messages is not left out', () => {
  const unstored = new UnstoredIds();
  unstored.begin({ created: 1, from: 1, earlier: [], revision: 0 });
  for (let seq = 1; seq <= 1_200; seq++) unstored.add(ids(seq));
  unstored.storedByOther({ to: 900, last: { ...ids(899), time: 5 } }, 5);
  for (let round = 0; round < 3; round++) unstored.round();
  expect(unstored.next()).toMatchObject({ from: 1, to: 1_001 });
});

test('without a broker the oldest are dropped, and the next summary does not claim them', () => {
  const unstored = new UnstoredIds();
  unstored.begin({ created: 1, from: 1, earlier: [], revision: 0 });
  unstored.failed();
  for (let seq = 1; seq <= 900; seq++) unstored.add(ids(seq, 400));
  expect(unstored.round()).toBe(true);
  const next = unstored.next();
  expect(next?.from).toBeGreaterThan(300);
  expect(next?.messages[0]?.seq).toBe(next?.from);
});
