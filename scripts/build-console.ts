/**
 * Builds the console into packages/console/dist, with a Brotli and a gzip twin of every file. Does nothing where the inputs are
 * those of the last build: `npm ci` runs it, so that `npm start` needs no second step.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const console_ = join(root, 'packages/console');
const stamp = join(console_, 'dist/.inputs');
const inputs = createHash('sha256');
for (const file of globSync(
  ['packages/console/{src,public}/**/*', 'packages/console/*.{html,ts,json}', 'packages/{core,catalog}/src/**/*.ts', 'package-lock.json'],
  { cwd: root, exclude: ['**/*.test.ts', '**/*.test.tsx'] },
).sort()) {
  if (extname(file) === '') continue; // a folder
  inputs
    .update(file)
    .update('\0')
    .update(readFileSync(join(root, file)))
    .update('\0');
}
const digest = inputs.digest('hex');
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) process.exit(0);

const { build } = await import('vite');
await build({ configFile: join(console_, 'vite.config.ts'), logLevel: 'error' });
// All at once: Node compresses on several threads.
await Promise.all(
  globSync('**/*.{js,css,html,svg}', { cwd: join(console_, 'dist') }).map(async (file) => {
    const path = join(console_, 'dist', file);
    const bytes = await readFile(path);
    await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
    await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
  }),
);
writeFileSync(stamp, digest);
