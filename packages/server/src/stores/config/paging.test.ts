import { expect, test } from 'vitest';
import { totalBeside } from './paging.ts';

test.each([
  ['none, while one is being added', 0, { limit: 10, offset: 0 }, 1, 0],
  ['fewer than a page, while one is being added', 3, { limit: 10, offset: 0 }, 4, 3],
  ['the last page, while one is being removed', 2, { limit: 10, offset: 20 }, 21, 22],
  ['a full page', 10, { limit: 10, offset: 0 }, 37, 37],
  ['a full page, of which some are being removed', 10, { limit: 10, offset: 10 }, 15, 20],
  ['past the end', 0, { limit: 10, offset: 50 }, 37, 37],
  ['only the number', 0, { limit: 0, offset: 0 }, 37, 37],
])('the total beside %s', async (_name, rows, page, counted, total) => {
  expect(await totalBeside(rows, page, async () => counted)).toBe(total);
});
