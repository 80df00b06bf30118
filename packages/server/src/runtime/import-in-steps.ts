/**
 * Imports a large package file by file, dependencies first, and leaves the loop to others between the files. `import()` by itself runs all
 * files of a package without a pause: up to 0.5 s for a client with hundreds of files.
 *
 * The names of imported files are found in the text, and a name that is not found there costs only a longer step: the file that needs it
 * imports it.
 */
import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { turns } from './turns.ts';

const IMPORTED = /\b(?:from|import|require\()\s*['"]([^'"\n]+)['"]/g;
const IS_CODE = /\.[cm]?js$/;
const begun = new Map<string, Promise<void>>();

/** `entry` is the URL of the package's main file: `import.meta.resolve(name)`. */
export function importInSteps(entry: string, afterFile?: (file: string, module: unknown) => void): Promise<void> {
  let done = begun.get(entry);
  if (done === undefined) {
    begun.set(entry, (done = importFile(fileURLToPath(entry), new Set(), afterFile)));
    // The next caller tries again: what was missing or busy may be there by then.
    done.catch(() => begun.delete(entry));
  }
  return done;
}

async function importFile(file: string, seen: Set<string>, afterFile?: (file: string, module: unknown) => void): Promise<void> {
  seen.add(file);
  const require = createRequire(file);
  for (const needed of filesOf(readFileSync(file, 'utf8'), require)) if (!seen.has(needed)) await tryFile(needed, seen, afterFile);
  // An import and a `require` of one file share the module. `require` is cheaper for CommonJS.
  const module: unknown = require(file);
  afterFile?.(file, module);
  await turns.bulk();
}

/** A file that does not load may be optional: a native addon that is not built. If it is needed, the file that imports it fails and says so. */
async function tryFile(...args: Parameters<typeof importFile>): Promise<void> {
  try {
    await importFile(...args);
  } catch {
    await turns.bulk();
  }
}

function* filesOf(text: string, require: NodeJS.Require): Generator<string> {
  for (const [, name = ''] of text.matchAll(IMPORTED)) {
    if (isBuiltin(name)) continue;
    let file: string;
    try {
      file = require.resolve(name);
    } catch {
      // An optional dependency, or a word in a comment. If the file does need it, its own import fails and says so.
      continue;
    }
    if (IS_CODE.test(file)) yield file;
  }
}
