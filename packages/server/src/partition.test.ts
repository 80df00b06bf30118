import { describe, expect, test } from 'vitest';
import { DEFAULT_PARTITIONS, PartitionMap, partitionOf, withPartitions } from './partition.ts';

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
  const counts = new Array<number>(DEFAULT_PARTITIONS).fill(0);
  for (let i = 0; i < 16_000; i++) counts[partitionOf('org_01', `visitor-${i}`)]!++;
  expect(Math.min(...counts)).toBeGreaterThan(850);
  expect(Math.max(...counts)).toBeLessThan(1150);
});

describe('raising the number of partitions', () => {
  const SWITCH = 1_000_000;
  const map = new PartitionMap([
    { count: 4, from: 0 },
    { count: 8, from: SWITCH },
    { count: 24, from: 2 * SWITCH },
  ]);

  test.each([
    [8, 8, [8], undefined],
    [16, 8, [8, 16], undefined],
    [24, 8, [8, 24], undefined],
    [4, 8, [8], 'the number of partitions cannot be lowered, 8 are in use'],
    [12, 8, [8], '12 is not a multiple of the 8 partitions in use'],
  ])('%i wanted where %i are in use', (wanted, used, counts, refused) => {
    const result = withPartitions([{ count: used, from: 0 }], wanted, 5);
    expect(result.epochs.map(({ count }) => count)).toEqual(counts);
    expect(result.refused).toBe(refused);
  });

  test('a new partition gets its visitors from one old partition only', () => {
    for (let i = 0; i < 2_000; i++) {
      const topics = [0, SWITCH, 2 * SWITCH].map((now) => map.topicOf('org_1', `visitor-${i}`, now));
      for (const [from, to] of [topics.slice(0, 2), topics.slice(1, 3)] as [string, string][])
        if (from !== to) expect(map.parentOf(to)?.topic).toBe(from);
    }
    expect(map.sets.map((set) => set.length)).toEqual([4, 4, 16]);
    expect(map.parentOf('ingest.3')).toBeUndefined();
    expect(map.parentOf('ingest.5')).toEqual({ topic: 'ingest.1', until: SWITCH });
  });
});
