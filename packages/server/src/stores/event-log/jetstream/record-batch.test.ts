import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecordTooLarge } from '../port.ts';
import { decodeBatch, encodeBatch, fitting, hashesOf, MOST_RECORDS, packRecord } from './record-batch.ts';

const MAX = 1_048_576;

test('any ids and bodies come back as they were, with one hash each', () => {
  const record = fc.record({ id: fc.string({ unit: 'binary' }), data: fc.uint8Array({ maxLength: 300 }) });
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 50 }), (records) => {
      const packed = records.map(packRecord);
      const { data, headers } = encodeBatch(packed, MAX);
      const read = decodeBatch(data, headers);
      expect(read.map(({ id }) => id)).toEqual(records.map(({ id }) => id.toWellFormed()));
      expect(read.map((each) => Buffer.from(each.data))).toEqual(records.map((each) => Buffer.from(each.data)));
      const hashes = records.map(({ id }) => createHash('sha256').update(id.toWellFormed()).digest().subarray(0, 8));
      expect(hashesOf(headers)).toEqual(Buffer.concat(hashes));
    }),
  );
});

test('a batch near the limit of the broker is compressed, and one that cannot fit is refused', () => {
  const [packed] = [packRecord({ id: 'large', data: Buffer.alloc(3 * MAX, 'abc') })];
  const { data, headers } = encodeBatch([packed], MAX);
  expect(data.length).toBeLessThan(MAX);
  expect(decodeBatch(data, headers)[0]?.data.length).toBe(3 * MAX);
  expect(() => encodeBatch([packRecord({ id: 'random', data: randomBytes(2 * MAX) })], MAX)).toThrow(RecordTooLarge);
});

test.each([
  ['many small ones', Array.from({ length: 1_000 }, () => 10), MOST_RECORDS],
  ['large ones', [200_000, 100_000, 10], 1],
  ['one that is larger than a batch', [900_000, 10], 1],
  ['few', [10, 10, 10], 3],
])('so many records share a message: %s', (_, sizes, expected) => {
  expect(
    fitting(
      sizes.map((size, i) => packRecord({ id: `${i}`, data: Buffer.alloc(size) })),
      MAX,
    ),
  ).toBe(expected);
});
