/** The files under deploy/ are text that nothing compiles: these tests hold them against the code. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { SETTINGS } from '../packages/server/src/config/table.ts';
import { allMetrics } from './docs/metrics.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test.each([
  'deploy/prometheus/rules.yaml',
  'deploy/grafana/firsthand.json',
  'deploy/helm/firsthand/values.yaml',
])('%s names only metrics that the service has', (file) => {
  const known = new Set(
    allMetrics()
      .getMetricsAsArray()
      .map(({ name }) => name),
  );
  const used = [...read(file).matchAll(/\bfirsthand_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

test('the Grafana dashboard is valid JSON, and every panel asks something', () => {
  const { panels } = JSON.parse(read('deploy/grafana/firsthand.json')) as { panels: { id: number; targets: { expr: string }[] }[] };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { targets } of panels) expect(targets.every(({ expr }) => expr.includes('_'))).toBe(true);
});

describe('the image', () => {
  test('copies the manifest of every package before it installs', () => {
    const copied = [...read('Dockerfile').matchAll(/^COPY (packages\/\S+\/package\.json) /gm)].map(([, file]) => file);
    expect(copied.toSorted()).toEqual(globSync('packages/*/package.json', { cwd: root }).toSorted());
  });
  test('starts with the flags of npm start', () => {
    const flags = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'));
    for (const file of ['Dockerfile', 'deploy/systemd/firsthand.service'])
      for (const flag of flags) expect(read(file), file).toContain(flag);
  });
});

test('settings named in the deployment files exist', () => {
  const known = new Set(Object.values(SETTINGS).map(({ variable }) => variable));
  const others = new Set(['NODE_ENV', 'MALLOC_ARENA_MAX', 'POSTGRES_USER', 'POSTGRES_DB', 'POSTGRES_PASSWORD']);
  const compose = ['compose.yaml', 'deploy/compose/full-stack.yaml'].flatMap((file) => [...read(file).matchAll(/\b([A-Z][A-Z_]+): /g)]);
  const helm = [...read('deploy/helm/firsthand/templates/_helpers.tpl').matchAll(/\{ name: ([A-Z_]+),/g)];
  const named = [...compose, ...helm].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.has(name) && !others.has(name))).toEqual([]);
});

test('the chart has the version of the release', () => {
  expect(read('deploy/helm/firsthand/Chart.yaml')).toContain(`appVersion: ${manifest.version}`);
});
