import { expect, test } from 'vitest';
import { allPages } from './all-pages.ts';

test('reads page after page, also where a page is shorter than its limit, and ends with an empty one', async () => {
  const list = Array.from({ length: 7 }, (_, at) => at);
  const read = async (offset: number) => ({ rows: list.slice(offset, offset + (offset === 0 ? 3 : 2)), offset, total: list.length });
  expect(await allPages(read)).toEqual(list);
  expect(await allPages(async (offset) => ({ rows: [], offset, total: 9 }))).toEqual([]);
});
