import { expect, test } from 'vitest';
import { FIRST_LOAD_LIMIT, firstLoad, gzipBytes } from '../packages/console/first-load.ts';

// That a browser loads these files, and no others, is checked by `e2e/console-pages.browser.ts`.
test('the first page loads at most 250 KB of JavaScript, gzip', () => {
  const files = firstLoad();
  expect(files.size).toBeGreaterThan(5);
  expect(gzipBytes(files), [...files].join(' ')).toBeLessThanOrEqual(FIRST_LOAD_LIMIT);
});
