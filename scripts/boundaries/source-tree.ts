/** The repository's source files, and what each of their imports resolves to. */
import { globSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix } from 'node:path';
import { importsOf } from './imports.ts';

/** Paths are relative to the repository's root and use `/`. */
export interface Edge {
  from: string;
  line: number;
  loadsFirst: boolean;
  to: { kind: 'file'; path: string } | { kind: 'package'; name: string } | { kind: 'node' } | { kind: 'unknown'; specifier: string };
}
export interface SourceTree {
  /** Paths and texts of the files to check. */
  files: ReadonlyMap<string, string>;
  exists(path: string): boolean;
  /** By package folder name: its npm name and what it declares. */
  packages: ReadonlyMap<string, PackageInfo>;
}
interface PackageInfo {
  name: string;
  exports: Readonly<Record<string, string>>;
  /** For a package that is bundled, also what only its build needs. */
  dependencies: ReadonlySet<string>;
}

/** Built into files by Vite, which the workspace declares: the running server installs none of it. */
const BUNDLED: ReadonlySet<string> = new Set(['console']);

export function readTree(root: string): SourceTree {
  const paths = globSync(
    ['packages/**/*.{ts,tsx}', 'e2e/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.ts', 'examples/**/*.ts', 'attack/**/*.ts'],
    {
      cwd: root,
      exclude: (name) => name === 'node_modules' || name.endsWith('.d.ts'),
    },
  );
  const packages = globSync('packages/*/package.json', { cwd: root }).map((path): [string, PackageInfo] => {
    const { name, exports = {}, dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(join(root, path), 'utf8'));
    const folder = posix.basename(posix.dirname(path));
    const declared = { ...dependencies, ...(BUNDLED.has(folder) ? { ...devDependencies, vite: '' } : {}) };
    return [folder, { name, exports, dependencies: new Set(Object.keys(declared)) }];
  });
  const files = new Map(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  return { files, exists: (path) => files.has(path), packages: new Map(packages) };
}

export function edgesOf(tree: SourceTree): Edge[] {
  return [...tree.files].flatMap(([from, text]) =>
    importsOf(from, text).map(({ specifier, line, loadsFirst }) => ({ from, line, loadsFirst, to: resolve(tree, from, specifier) })),
  );
}

function resolve({ packages }: SourceTree, from: string, specifier: string | undefined): Edge['to'] {
  if (specifier === undefined) return { kind: 'unknown', specifier: '(computed)' };
  if (specifier.startsWith('.')) return { kind: 'file', path: posix.join(posix.dirname(from), specifier) };
  if (isBuiltin(specifier)) return { kind: 'node' };
  const [, name = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)\/?(.*)$/.exec(specifier) ?? [];
  for (const [folder, info] of packages) {
    if (info.name !== name) continue;
    const target = info.exports[`./${rest}`] ?? info.exports['./*']?.replace('*', rest);
    return target === undefined ? { kind: 'unknown', specifier } : { kind: 'file', path: posix.join('packages', folder, target) };
  }
  return name === '' || name.startsWith('#') ? { kind: 'unknown', specifier } : { kind: 'package', name };
}
