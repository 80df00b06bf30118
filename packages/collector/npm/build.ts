/** Builds the npm package: `node packages/collector/npm/build.ts [folder]`, then `npm pack` or `npm publish` in that folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build as bundle, type Plugin } from 'esbuild';
import { CONSTANT_NAMES } from '../build/constants.ts';

const HERE = import.meta.dirname;
const COMMON = {
  bundle: true,
  minify: true,
  target: 'es2020',
  charset: 'ascii',
  legalComments: 'none',
  tsconfigRaw: '{}',
  write: false,
} as const;

/** The collector as the body of a function of `$c` (its constants) and `$o` (its options). */
async function collectorBody(): Promise<string> {
  const options: Plugin = {
    name: 'options of init',
    setup({ onLoad }) {
      onLoad({ filter: /[/\\]src[/\\]options\.ts$/ }, () => ({
        contents: 'export const option = $o; export const key = C_KEY; export const endpoint = C_INGEST_URL;',
      }));
      // Integrations that run in the browser are compiled into a pipeline's own script, not into the package.
      onLoad({ filter: /[/\\]src[/\\]client-side\.ts$/ }, () => ({ contents: 'export const deliverClientSide = () => {};' }));
    },
  };
  const result = await bundle({
    ...COMMON,
    entryPoints: [join(HERE, '../src/main.ts')],
    format: 'iife',
    define: Object.fromEntries(CONSTANT_NAMES.map((name) => [name, `$c.${name}`])),
    plugins: [options],
  });
  return result.outputFiles[0]?.text ?? '';
}

export async function buildNpmPackage(folder: string): Promise<void> {
  const body = await collectorBody();
  const withBody: Plugin = {
    name: 'the collector',
    setup({ onLoad }) {
      onLoad({ filter: /[/\\]npm[/\\]run\.ts$/ }, () => ({ contents: `export function run($c, $o) {\n${body}\n}` }));
    },
  };
  const result = await bundle({ ...COMMON, entryPoints: [join(HERE, 'index.ts')], format: 'esm', plugins: [withBody] });
  const { version, license } = JSON.parse(readFileSync(join(HERE, '../package.json'), 'utf8')) as { version: string; license: string };
  const types = readFileSync(join(HERE, 'api.ts'), 'utf8');
  const manifest = {
    name: '@firsthand/collector',
    version,
    description: 'Browser collector of Firsthand: first-party events, sent to your own service.',
    license,
    type: 'module',
    sideEffects: false,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['index.js', 'index.d.ts', 'README.md'],
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.js'), result.outputFiles[0]?.text ?? '');
  writeFileSync(
    join(folder, 'index.d.ts'),
    `${types}\n/** Starts the collector, or returns the running one. */\nexport declare function init(options: InitOptions): Collector;\n`,
  );
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), readFileSync(join(HERE, 'README.md'), 'utf8'));
}

if (import.meta.main) {
  const folder = process.argv[2] ?? join(HERE, '../dist/npm');
  await buildNpmPackage(folder);
  console.log(`The package is in ${folder}.`);
}
