/**
 * `npm run pack`: writes dist/firsthand-<version>.tgz, the package that `npx firsthand start` runs. Node strips no types below
 * node_modules, so the sources become JavaScript here, file by file and otherwise unchanged. The other packages travel inside of it.
 *
 * `npm run pack -- --try` also installs it into an empty folder, starts it there, and measures the time to the first delivered event.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { tryPackage } from './pack/try.ts';

const root = join(import.meta.dirname, '..');
const out = join(root, 'dist/package');
/** Path in the workspace, path in the package. */
const PACKAGES = [
  ['core', 'node_modules/@firsthand/core'],
  ['catalog', 'node_modules/@firsthand/catalog'],
  ['server', 'node_modules/@firsthand/server'],
  ['collector', 'node_modules/@firsthand/collector'],
  ['console', 'node_modules/@firsthand/console'],
  ['cli', '.'],
] as const;
const SOURCES: Partial<Record<string, string[]>> = {
  collector: ['src/**/*', 'build/**/*'],
  console: ['dist-folder.ts', 'dist/**/*'],
};
const LEFT_OUT = ['**/*.test.ts', '**/testing/**', '**/tsconfig.json', '**/*.tsbuildinfo'];

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
  exports?: unknown;
  sideEffects?: unknown;
}
const manifestOf = (name: string) => JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest;

/** `'./worker.ts'` → `'./worker.js'`, in imports and wherever else a source file is named. */
function namesJavaScript(text: string): string {
  return text.replace(/(['"`])([^'"`\n]*?)(?<!\.d)\.ts\1/g, '$1$2.js$1');
}

function copyPackage(name: string, to: string): void {
  const from = join(root, 'packages', name);
  for (const file of globSync(SOURCES[name] ?? ['src/**/*'], { cwd: from, exclude: LEFT_OUT, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name).slice(from.length + 1);
    const isSource = path.endsWith('.ts') && !path.endsWith('.d.ts') && !path.startsWith('dist/');
    const target = join(out, to, isSource ? path.replace(/\.ts$/, '.js') : path);
    mkdirSync(dirname(target), { recursive: true });
    if (isSource) writeFileSync(target, namesJavaScript(stripTypeScriptTypes(readFileSync(join(from, path), 'utf8'))));
    else if (path === 'src/firsthand.js') writeFileSync(target, namesJavaScript(readFileSync(join(from, path), 'utf8')));
    else cpSync(join(from, path), target);
  }
  if (to === '.') return;
  const { name: packageName, exports, sideEffects } = manifestOf(name);
  const described = { name: packageName, version: manifest.version, type: 'module', exports, sideEffects };
  writeFileSync(join(out, to, 'package.json'), namesJavaScript(JSON.stringify(described, undefined, 2)));
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [join(root, 'scripts/build-console.ts')], { stdio: 'inherit' });
for (const [name, to] of PACKAGES) copyPackage(name, to);
const dependencies = Object.assign({}, ...PACKAGES.map(([name]) => manifestOf(name).dependencies ?? {})) as Record<string, string>;
const own = PACKAGES.map(([name]) => manifestOf(name).name);
writeFileSync(
  join(out, 'package.json'),
  JSON.stringify(
    {
      name: 'firsthand',
      version: manifest.version,
      description: 'First-party event platform: collects, processes and delivers events server to server.',
      license: manifest.license,
      type: 'module',
      bin: { firsthand: 'bin/firsthand.js' },
      engines: { node: '>=20' },
      dependencies: {
        ...Object.fromEntries(Object.entries(dependencies).filter(([name]) => !own.includes(name))),
        ...Object.fromEntries(own.filter((name) => name !== 'firsthand').map((name) => [name, manifest.version])),
      },
      optionalDependencies: manifest.optionalDependencies,
      bundleDependencies: own.filter((name) => name !== 'firsthand'),
    },
    undefined,
    2,
  ),
);
mkdirSync(join(out, 'bin'));
cpSync(join(root, 'scripts/pack/launcher.js'), join(out, 'bin/firsthand.js'));
chmodSync(join(out, 'bin/firsthand.js'), 0o755);
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, file), join(out, file));
const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', join(root, 'dist')], { cwd: out, encoding: 'utf8' });
const [{ filename, size, unpackedSize }] = JSON.parse(packed) as [{ filename: string; size: number; unpackedSize: number }];
console.log(`dist/${filename}: ${(size / 1e6).toFixed(1)} MB, ${(unpackedSize / 1e6).toFixed(1)} MB unpacked`);
if (process.argv.includes('--try')) await tryPackage(join(root, 'dist', filename));
