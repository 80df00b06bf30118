import { expect, test } from 'vitest';
import { bundleSizes } from './bundle-sizes.ts';

test('adds up the bytes of each source, and counts every byte once', () => {
  // Columns 0 to 4 are a.ts, 4 to 10 b.ts; the second line is a.ts again.
  const map = { sources: ['a.ts', 'b.ts'], mappings: 'AAAA,ICAA;ADAA' };
  expect(bundleSizes(map, '0123456789\nabc')).toEqual([
    ['a.ts', 7],
    ['b.ts', 6],
  ]);
});
