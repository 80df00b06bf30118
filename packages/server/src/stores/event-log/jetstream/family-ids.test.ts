import { expect, test } from 'vitest';
import { AllIds, FamilyIds, type FamilyIdsDeps } from './family-ids.ts';
import type { Entry } from './topic-writer.ts';

test('of many families, those not used for longest are dropped unless a record is on its way (memory grew with each dead-letter topic)', async () => {
  let now = 0;
  const deps = { layout: { familyFilters: () => [] }, windowMs: 1_000, now: () => now } as unknown as FamilyIdsDeps;
  const dropped: string[][] = [];
  const all = new AllIds(
    (family) => new FamilyIds(family, deps),
    (families) => void dropped.push([...families]),
    4,
  );
  const opened = new Map<string, FamilyIds>();
  for (const family of ['a', 'b', 'c', 'd']) {
    now++;
    opened.set(family, await all.of(family));
  }
  now++;
  opened.get('a')?.begin('1', {} as Entry);
  opened.get('a')?.end('1');
  opened.get('b')?.begin('2', {} as Entry);
  await all.of('e');
  expect(dropped).toEqual([['c']]);
  expect(await all.of('b')).toBe(opened.get('b'));
  expect(await all.of('c')).not.toBe(opened.get('c'));
});
