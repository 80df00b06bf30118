/** The console's first load, from the files that `node scripts/build-console.ts` made. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const DIST = join(import.meta.dirname, '../packages/console/dist');
const LIMIT = 250 * 1_024;

/** The file and everything that it imports at once; what it imports later is left out. */
function loadedWith(file: string, found: Set<string> = new Set()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, name] of readFileSync(join(DIST, 'assets', file), 'utf8').matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g))
    if (name !== undefined) loadedWith(name, found);
  return found;
}

test('the first page loads at most 250 KB of JavaScript, gzip', () => {
  const entry = /src="\/assets\/([^"]+\.js)"/.exec(readFileSync(join(DIST, 'index.html'), 'utf8'))?.[1];
  const home = readdirSync(join(DIST, 'assets')).find((name) => /^home-page-.*\.js$/.test(name));
  const files = loadedWith(home ?? 'home-page', loadedWith(entry ?? 'index'));
  const bytes = [...files].reduce((sum, name) => sum + statSync(join(DIST, 'assets', `${name}.gz`)).size, 0);
  expect(files.size).toBeGreaterThan(5);
  expect(bytes, [...files].join(' ')).toBeLessThanOrEqual(LIMIT);
});
