import { expect, test } from 'vitest';
import { CommitGroups } from './commit-groups.ts';

/** Events are their sizes. */
function groupsOf(isAtomic: boolean) {
  const committed: number[][] = [];
  const commits = new CommitGroups<number>({
    isAtomic,
    bytesOf: (bytes) => bytes,
    commit: async (group) => void committed.push([...group]),
  });
  return { commits, committed, sizes: () => committed.map(({ length }) => length) };
}
const KB = 1024;

test.each([
  [true, [64, 64, 22]],
  [false, [128, 22]],
])('finished events are committed in groups: with transactions %s', async (isAtomic, sizes) => {
  const { commits, sizes: committed } = groupsOf(isAtomic);
  for (let n = 0; n < 150; n++) commits.add(10, { moreFollow: false });
  await expect.poll(committed).toEqual(sizes);
});

test('large events are committed in small groups, each at least alone', async () => {
  const { commits, committed } = groupsOf(true);
  for (const size of [300, 200, 100, 900, 10]) commits.add(size * KB, { moreFollow: false });
  await expect.poll(() => committed).toEqual([[300 * KB, 200 * KB], [100 * KB], [900 * KB], [10 * KB]]);
});

test('without transactions, events that are being begun share a commit', async () => {
  const { commits, sizes } = groupsOf(false);
  for (let n = 0; n < 100; n++) commits.add(10, { moreFollow: true });
  await Promise.resolve();
  expect(sizes()).toEqual([]);
  commits.commitSoon();
  await expect.poll(sizes).toEqual([100]);
});

test('after stop nothing is committed', async () => {
  const { commits, sizes } = groupsOf(true);
  commits.add(10, { moreFollow: false });
  await commits.stop();
  expect(sizes()).toEqual([]);
});
