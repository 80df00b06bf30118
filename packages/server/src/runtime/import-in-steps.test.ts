import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { importInSteps } from './import-in-steps.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** Files of a package, each of which holds the thread for 6 ms: more than the slice of 5 ms after which the loop serves others. */
async function aPackage(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'firsthand-steps-'));
  folders.push(folder);
  const slow = 'for (const until = performance.now() + 6; performance.now() < until; );\n';
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), `${text}\n${slow}`);
  return folder;
}

test('a package is loaded file by file, dependencies first, with turns of the loop in between', async () => {
  const folder = await aPackage({
    'main.mjs': "import './left.mjs';\nexport { right } from './right.cjs';",
    'left.mjs': "import './deep.mjs';\nimport 'node:fs';",
    'deep.mjs': 'export const deep = 1;',
    'right.cjs': "exports.right = 2;\ntry { require('not-installed'); } catch {}",
  });
  const entry = pathToFileURL(join(folder, 'main.mjs')).href;
  const loaded: string[] = [];
  let turns = 0;
  let immediate: NodeJS.Immediate;
  const count = () => {
    turns++;
    immediate = setImmediate(count);
  };
  immediate = setImmediate(count);
  await importInSteps(entry, (file) => loaded.push(basename(file)));
  clearImmediate(immediate);
  expect(loaded).toEqual(['deep.mjs', 'left.mjs', 'right.cjs', 'main.mjs']);
  expect(turns).toBeGreaterThanOrEqual(2);
  expect(createRequire(import.meta.url)(fileURLToPath(entry))).toMatchObject({ right: 2 });
});

test('two callers at once load the files once, and both wait until the last one is loaded', async () => {
  const folder = await aPackage({ 'main.mjs': "import './part.mjs';", 'part.mjs': 'export const part = 1;' });
  const entry = pathToFileURL(join(folder, 'main.mjs')).href;
  const loaded: string[] = [];
  const both = [importInSteps(entry, (file) => loaded.push(basename(file))), importInSteps(entry)];
  await both[1];
  expect(loaded).toEqual(['part.mjs', 'main.mjs']);
  await both[0];
});

test('a file that cannot be loaded fails the import', async () => {
  const folder = await aPackage({ 'main.mjs': "import './missing.mjs';" });
  await expect(importInSteps(pathToFileURL(join(folder, 'main.mjs')).href)).rejects.toThrow('missing.mjs');
});

test('an import that failed is tried again (its failure was kept until the next start)', async () => {
  const folder = await aPackage({ 'main.cjs': "require('./late.cjs');" });
  const entry = pathToFileURL(join(folder, 'main.cjs')).href;
  await expect(importInSteps(entry)).rejects.toThrow('late.cjs');
  await writeFile(join(folder, 'late.cjs'), '');
  await importInSteps(entry);
});

test('an optional file that does not load, such as an addon that is not built, is left to the file that asks for it', async () => {
  const folder = await aPackage({
    'main.cjs': "exports.found = true;\ntry { require('./addon.cjs'); } catch { exports.found = false; }",
    'addon.cjs': "throw new Error('it is not built for this system');",
  });
  const entry = pathToFileURL(join(folder, 'main.cjs')).href;
  await importInSteps(entry);
  expect(createRequire(import.meta.url)(fileURLToPath(entry))).toEqual({ found: false });
});
