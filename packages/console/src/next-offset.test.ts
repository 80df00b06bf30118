import { expect, test } from 'vitest';
import { nextOffset } from './next-offset.ts';

test.each([
  ['a full page', { offset: 0, total: 120 }, 50, 50],
  ['a page of large entries', { offset: 50, total: 120 }, 3, 53],
  ['the last page', { offset: 100, total: 120 }, 20, undefined],
  ['a page after the end', { offset: 200, total: 120 }, 0, undefined],
])('%s', (_name, page, shown, expected) => {
  expect(nextOffset(page, Array.from({ length: shown }))).toBe(expected);
});
