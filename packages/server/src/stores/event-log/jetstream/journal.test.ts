import { expect, test } from 'vitest';
import { decodeEntry, encodeEntry, type JournalEntry } from './journal.ts';

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
