/**
 * What a browser loads of the console until its first page stands, from the files that `node scripts/build-console.ts` made: the entry, Home,
 * and the chart that Home draws once its numbers are there.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DIST_FOLDER } from './dist-folder.ts';

export const FIRST_LOAD_LIMIT = 250 * 1_024;
const ASSETS = join(DIST_FOLDER, 'assets');

export const firstLoad = (): ReadonlySet<string> => loadedWith([entry(), chunk('home-page'), chunk('time-chart')]);
/** Loaded seconds later, so that it is there when it is needed: the sign-in after a session has ended. */
export const soonAfter = (): ReadonlySet<string> => loadedWith([chunk('sign-in-again')]);

export const gzipBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, name) => sum + statSync(join(ASSETS, `${name}.gz`)).size, 0);

function entry(): string {
  const found = /src="\/assets\/([^"]+\.js)"/.exec(readFileSync(join(DIST_FOLDER, 'index.html'), 'utf8'))?.[1];
  if (found === undefined) throw new Error('index.html names no script');
  return found;
}
function chunk(name: string): string {
  const [found, ...more] = readdirSync(ASSETS).filter((file) => new RegExp(`^${name}-[^.]{8}\\.js$`).test(file));
  if (found === undefined || more.length > 0) throw new Error(`the build has no single file of ${name}`);
  return found;
}
/** The files and everything that they import at once; what they import later is left out. */
function loadedWith(files: readonly string[], found: Set<string> = new Set()): Set<string> {
  for (const file of files) {
    if (found.has(file)) continue;
    found.add(file);
    const imports = readFileSync(join(ASSETS, file), 'utf8').matchAll(/(?:from|import)"\.\/([^"]+\.js)"/g);
    loadedWith(
      [...imports].flatMap(([, name]) => name ?? []),
      found,
    );
  }
  return found;
}
