/** The contributor guide "Add a vendor", followed in a copy of the repository. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../../..');

/** Sources are copied and dependencies linked, except the workspace's own packages: these must be the copied ones. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'firsthand-new-vendor-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const sources = ['packages', 'scripts', 'docs', '.gitignore', ...globSync('*.{json,ts}', { cwd: ROOT })];
  const leftOut = new Set(['node_modules', 'dist', 'images', 'data']);
  for (const source of sources)
    cpSync(join(ROOT, source), join(copy, source), { recursive: true, filter: (path) => !leftOut.has(path.split('/').at(-1) ?? '') });
  const link = (path: string) => {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(copy, path));
  };
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@firsthand' && name !== 'firsthand') link(`node_modules/${name}`);
  for (const path of globSync('packages/*/node_modules', { cwd: ROOT })) link(path);
  for (const name of readdirSync(join(ROOT, 'node_modules/@firsthand'))) {
    mkdirSync(join(copy, 'node_modules/@firsthand'), { recursive: true });
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules/@firsthand', name));
  }
  return copy;
}

test('the template of npm run new-vendor passes the suite of its guide, and every generated file is fresh', {
  tags: ['long'],
  timeout: 600_000,
}, () => {
  const cwd = copyRepository();
  const env = { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`, VITEST: undefined };
  const node = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  node('scripts/new-vendor.ts', 'acme_ads');
  expect(existsSync(join(cwd, 'docs/reference/integrations/acme_ads.md'))).toBe(true);
  node('scripts/generate-vendor-list.ts', '--check');
  node('scripts/generate-docs.ts', '--check');
  const vitest = relative(cwd, join(ROOT, 'node_modules/vitest/vitest.mjs'));
  const reported = join(cwd, 'report.json');
  node(vitest, 'run', '--project', 'unit', 'packages/catalog', '-t', 'acme_ads', '--reporter=json', `--outputFile=${reported}`);
  const { numPassedTests, success } = JSON.parse(readFileSync(reported, 'utf8')) as { numPassedTests: number; success: boolean };
  expect(success).toBe(true);
  expect(numPassedTests).toBeGreaterThan(20);
});
