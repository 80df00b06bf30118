import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SettledRanges } from './settled-ranges.ts';

test('settling in any order tracks the settled records and the cursor, and survives encoding', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5_000_000_000 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 80 }),
      (start, offsets) => {
        const settled = new SettledRanges(start);
        const known = new Set<number>();
        for (const offset of offsets) {
          settled.add(start + offset);
          known.add(offset);
        }
        let cursor = 0;
        while (known.has(cursor + 1)) cursor++;
        for (const one of [settled, SettledRanges.decode(settled.encode())]) {
          expect(one.cursor).toBe(start + cursor);
          expect(one.above).toBe([...known].filter((offset) => offset > cursor).length);
          for (let i = 0; i <= 72; i++) expect(one.has(start + i)).toBe(i === 0 || known.has(i));
        }
      },
    ),
  );
});

test('10,000 records with every other one settled take a few kilobytes', () => {
  const settled = new SettledRanges(1_000_000);
  for (let i = 2; i < 10_000; i += 2) settled.add(1_000_000 + i);
  expect(settled.encode().length).toBeLessThan(16_384);
});
