import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildNpmPackage } from '../npm/build.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-npm-'));
const app = join(folder, 'app');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ROOT = join(import.meta.dirname, '../../..');
const tsc = (...args: string[]) => execFileSync(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: app, encoding: 'utf8' });
const npm = (cwd: string, ...args: string[]) => execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

beforeAll(async () => {
  await buildNpmPackage(join(folder, 'package'));
  npm(join(folder, 'package'), 'pack', '--silent', '--pack-destination', folder);
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
  const [archive = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  npm(app, 'install', '--silent', '--no-audit', '--no-fund', '--offline', join(folder, archive));
});

test('installs into an empty project, with types', () => {
  const use = (call: string) => {
    writeFileSync(
      join(app, 'app.ts'),
      `import { init } from '@firsthand/collector';\nconst collector = init({ pipelineKey: 'pk_1', ingestUrl: 'https://e.example' });\n${call}\n`,
    );
    return tsc('--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2022', '--types', '', 'app.ts');
  };
  expect(use("collector.track('Order Completed', { total: 42 });")).toBe('');
  expect(() => use('collector.track(42);')).toThrow();
});

test('the React example has the right types', () => {
  cpSync(join(ROOT, 'examples/collector/react'), join(app, 'react'), { recursive: true });
  const types = join(ROOT, 'node_modules/@types/react');
  const compilerOptions = {
    noEmit: true,
    strict: true,
    jsx: 'react-jsx',
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
    paths: { react: [types], 'react/jsx-runtime': [join(types, 'jsx-runtime.d.ts')] },
  };
  writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['react'] }));
  expect(tsc('-p', 'tsconfig.json')).toBe('');
});

test('bundles for a browser, and does nothing on a server', async () => {
  const contents = `import { init } from '@firsthand/collector'; const c = init({ pipelineKey: 'pk_1', ingestUrl: 'https://e.example' }); c.track('X'); console.log(typeof c.page);`;
  const { outputFiles } = await build({ stdin: { contents, resolveDir: app }, bundle: true, format: 'esm', write: false });
  const code = outputFiles[0]?.text ?? '';
  expect(code).toContain('pk_1');
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })).toBe('function\n');
});
