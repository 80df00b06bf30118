import { expect, test } from 'vitest';
import { readInTurns } from './sized-rows.ts';

test('large rows are read in several queries, and keep their order', async () => {
  const sized = [
    { id: 'a', bytes: 300_000 },
    { id: 'b', bytes: 300_000 },
    { id: 'c', bytes: 10 },
    { id: 'deleted', bytes: 10 },
    { id: 'd', bytes: 900_000 },
    { id: 'e', bytes: 10 },
  ];
  const read: string[][] = [];
  const rows = await readInTurns(
    sized,
    async (ids) => {
      read.push(ids);
      return ids
        .filter((id) => id !== 'deleted')
        .map((id) => ({ id }))
        .toReversed();
    },
    ({ id }) => id.toUpperCase(),
  );
  expect(read).toEqual([['a'], ['b', 'c', 'deleted'], ['d'], ['e']]);
  expect(rows).toEqual(['A', 'B', 'C', 'D', 'E']);
});
