import { expect, test } from 'vitest';
import { decodeEntry, encodeEntry, Journal, type JournalDeps, type JournalEntry } from './journal.ts';
import { Layout } from './names.ts';

test('an entry carries settled places and appends as they are', () => {
  const entry: JournalEntry = {
    owner: 'me',
    settled: [
      [4, 0, 2],
      [9, 1],
    ],
    appends: [
      {
        topic: 'outcomes.2',
        records: [
          { id: 'ü', data: Uint8Array.from([0, 255, 10]) },
          { id: 'b', data: Buffer.from('{}') },
        ],
      },
      { topic: 'limits.int_1', records: [{ id: 'c', data: Buffer.alloc(0) }] },
    ],
  };
  const read = decodeEntry(encodeEntry(entry));
  const plain = ({ owner, settled, appends }: JournalEntry) => [
    owner,
    settled,
    appends.map(({ topic, records }) => [topic, records.map(({ id, data }) => [id, ...data])]),
  ];
  expect(plain(read)).toEqual(plain(entry));
});

test('the first failure of a journal stream is reported, and the first after it worked again', async () => {
  let [works, now] = [false, 0];
  const warnings: string[] = [];
  const journal = new Journal({
    layout: new Layout(1),
    streams: { ensureJournal: async () => {}, forget: () => {} },
    publisher: {
      publish: async () => {
        if (!works) throw new Error('not stored');
        return { seq: 1, duplicate: false };
      },
    },
    monotonic: () => now,
    onWarning: (message: string, error: Error) => warnings.push(`${message}: ${error.message}`),
  } as unknown as JournalDeps);
  const add = (isWorking: boolean) => {
    works = isWorking;
    now += 60_000;
    return journal.add('events.1', 'g', { owner: 'me', settled: [[1, 0]], appends: [] });
  };
  const warning = 'settlement journal unavailable, cursors are stored at once: not stored';
  expect([await add(false), await add(false)]).toEqual([undefined, undefined]);
  expect(warnings).toEqual([warning]);
  expect(await add(true)).toBe(1);
  await add(false);
  expect(warnings).toEqual([warning, warning]);
});
