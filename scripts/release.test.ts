/** One version everywhere: docs/guides/contributing/release.md. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '@firsthand/core/vendor/version.ts';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import releases from '../releases.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const { version } = manifest;

test('every manifest, the lock file, the program and the chart have the version of the release', () => {
  const packages = globSync('packages/*/package.json', { cwd: root });
  expect(packages.length).toBeGreaterThan(4);
  const lock = JSON.parse(read('package-lock.json')) as { version: string; packages: Record<string, { version: string }> };
  const found = {
    ...Object.fromEntries(packages.map((file) => [file, (JSON.parse(read(file)) as { version: string }).version])),
    ...Object.fromEntries(packages.map((file) => [`lock ${file}`, lock.packages[file.replace('/package.json', '')]?.version])),
    lock: lock.version,
    'lock root': lock.packages['']?.version,
    program: VERSION,
  };
  for (const [where, each] of Object.entries(found)) expect(each, where).toBe(version);
  expect(load(read('deploy/helm/firsthand/Chart.yaml'))).toMatchObject({ version, appVersion: version });
});

test('releases.json has a commit for every release in the changelog before this one', () => {
  const released = [...read('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/gm)].map(([, name]) => name ?? '');
  expect(released[0]).toBe(version);
  for (const each of released.slice(1)) expect(Object.keys(releases)).toContain(each);
  for (const commit of Object.values(releases)) expect(commit).toMatch(/^[0-9a-f]{40}$/);
});
