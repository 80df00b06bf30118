import { expect, test } from 'vitest';
import { PARTITIONS, partitionOf } from './partition.ts';

test('the partition of a visitor never changes between releases', () => {
  expect(partitionOf('org_1', 'anonymous-1')).toBe(partitionOf('org_1', 'anonymous-1'));
  expect(['a', 'b', 'c', 'é', '\ud800', ''].map((key) => partitionOf('org_1', key))).toMatchInlineSnapshot(`
    [
      2,
      2,
      15,
      2,
      6,
      4,
    ]
  `);
});

test('visitors spread evenly', () => {
  const counts = new Array<number>(PARTITIONS).fill(0);
  for (let i = 0; i < 16_000; i++) counts[partitionOf('org_01', `visitor-${i}`)]!++;
  expect(Math.min(...counts)).toBeGreaterThan(850);
  expect(Math.max(...counts)).toBeLessThan(1150);
});
