import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DIGEST, IdTable } from './id-table.ts';

const digestOf = (id: string) => hash('sha1', id, 'binary');

test('behaves like a Map at any load factor', () => {
  // Few different bytes: many digests share their place, and some wrap around from the last place to the first.
  const crowded = fc
    .array(fc.constantFrom('\0', '\x01', '\xff'), { minLength: DIGEST, maxLength: DIGEST })
    .map((characters) => characters.join(''));
  const step = fc.record({ digest: crowded, time: fc.integer({ min: 1, max: 1e12 }), unset: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const table = new IdTable(4);
      const map = new Map<string, number>();
      for (const { digest, time, unset } of steps) {
        if (unset) {
          table.unset(digest);
          if (map.has(digest)) map.set(digest, Number.NEGATIVE_INFINITY);
        } else {
          table.set(digest, time);
          map.set(digest, time);
        }
        expect(table.get(digest)).toBe(map.get(digest));
      }
      expect(table.size).toBe(map.size);
      const found = Array.from({ length: table.places }, (_, place) => table.at(place)).filter((entry) => entry !== undefined);
      expect(new Map(found.map(({ digest, time }) => [digest.toString('latin1'), time]))).toEqual(map);
    }),
  );
});

test('grows as it fills, and keeps its slots nearly in the order of the digests', () => {
  const table = new IdTable(4);
  for (let i = 0; i < 20_000; i++) table.set(digestOf(`id-${i}`), i + 1);
  expect(table.size).toBe(20_000);
  for (let i = 0; i < 20_000; i++) expect(table.get(digestOf(`id-${i}`))).toBe(i + 1);
  expect(table.get(digestOf('another'))).toBeUndefined();
  let [entries, outOfOrder] = [0, 0];
  let last: Uint8Array = Buffer.alloc(DIGEST);
  for (let place = 0; place < table.places; place++) {
    const entry = table.at(place);
    if (entry === undefined) continue;
    entries++;
    if (Buffer.compare(last, entry.digest) > 0) outOfOrder++;
    last = entry.digest;
  }
  expect(entries).toBe(20_000);
  expect(outOfOrder).toBeLessThan(entries / 2);
});
