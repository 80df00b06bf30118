/** The files under deploy/ are text that nothing compiles: these tests hold them against the code. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RejectionCode } from '@firsthand/core/outcome/outcome.ts';
import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { SETTINGS } from '../packages/server/src/config/table.ts';
import type { AttemptOutcome } from '../packages/server/src/roles/deliver/attempt-counts.ts';
import type { DiskSpace } from '../packages/server/src/stores/disk-space.ts';
import { allMetrics } from './docs/metrics.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

test.each([
  'deploy/prometheus/rules.yaml',
  'deploy/prometheus/rules.test.yaml',
  'deploy/prometheus/adapter.yaml',
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

/** Labels by metric. */
const LABELS = new Map(
  allMetrics()
    .getMetricsAsArray()
    .map((metric) => [metric.name, 'labelNames' in metric ? (metric.labelNames as string[]) : []]),
);
/** Added by the scrape, or by a histogram to its buckets. */
const ADDED = ['instance', 'job', 'le'];
/** Label values that the files use. The types hold them against the code. */
const VALUES: Record<string, string[]> = {
  'firsthand_delivery_attempts_total.outcome': ['refused', 'unavailable'] satisfies AttemptOutcome[],
  'firsthand_events_rejected_total.reason': ['overloaded'] satisfies RejectionCode[],
  'firsthand_store_bytes.state': ['used'] satisfies (keyof DiskSpace)[],
};
/** What an expression, and the text that shows its labels, name without it being there. */
function unknownLabels(expr: string, text = ''): string[] {
  const labelsOf = (metric: string) => LABELS.get(metric.replace(/_(bucket|sum|count)$/, '')) ?? [];
  const matchers = [...expr.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, metric = '', inner = '']) =>
    [...inner.matchAll(/(\w+)\s*[=!]~?\s*"([^"]*)"/g)].map(([, label = '', values = '']) => ({ metric, label, values: values.split('|') })),
  );
  const all = [...expr.matchAll(/\w+/g)].flatMap(([word]) => labelsOf(word)).concat(ADDED);
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
  const aggregates = /\b(sum|max|min)\b/.test(expr);
  const shown = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label);
  return [
    ...matchers.flatMap(({ metric, label, values }) => {
      if (ADDED.includes(label)) return [];
      if (!labelsOf(metric).includes(label)) return [`${metric}{${label}}`];
      return values.filter((value) => !VALUES[`${metric}.${label}`]?.includes(value)).map((value) => `${metric}{${label}="${value}"}`);
    }),
    ...grouped.filter((label) => !all.includes(label)).map((label) => `by (${label})`),
    ...shown.filter((label) => !(aggregates ? grouped : all).includes(label)).map((label) => `{{${label}}}`),
  ];
}

test('a label or value that the service does not have is found', () => {
  expect(
    unknownLabels('sum by (vendor, place) (firsthand_dead_letters_total{outcome="refused"})', '{{ $labels.vendor }} {{reason}}'),
  ).toEqual(['firsthand_dead_letters_total{outcome}', 'by (place)', '{{reason}}']);
  expect(unknownLabels('sum(rate(firsthand_events_rejected_total{reason=~"overloaded|overload"}[5m]))')).toEqual([
    'firsthand_events_rejected_total{reason="overload"}',
  ]);
});

test('the Prometheus rules have the shape of rule groups and use only labels and values of the service', () => {
  const rule = {
    alert: expect.stringMatching(/^Firsthand\w+$/),
    expr: expect.stringContaining('firsthand_'),
    labels: { severity: expect.stringMatching(/^(warning|critical)$/) },
    annotations: expect.objectContaining({ summary: expect.any(String) }),
  };
  const file = load(read('deploy/prometheus/rules.yaml')) as { groups: { name: string; rules: Record<string, unknown>[] }[] };
  expect(file).toEqual({ groups: [{ name: 'firsthand', rules: expect.any(Array) }] });
  const rules = file.groups.flatMap(({ rules }) => rules);
  for (const { for: duration = '0s', ...each } of rules) {
    expect(each).toEqual(rule);
    expect(duration).toMatch(/^\d+[smh]$/);
    const texts = Object.values(each.annotations as Record<string, string>);
    expect(unknownLabels(String(each.expr), texts.join(' ')), String(each.alert)).toEqual([]);
  }
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

test('every Prometheus rule has a test in which it fires', () => {
  const { groups } = load(read('deploy/prometheus/rules.yaml')) as { groups: { rules: { alert: string }[] }[] };
  const { tests } = load(read('deploy/prometheus/rules.test.yaml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
  };
  const fires = tests.flatMap(({ alert_rule_test }) => alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0));
  expect(new Set(fires.map(({ alertname }) => alertname))).toEqual(new Set(groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))));
});

test('the Grafana dashboard is valid JSON, and every panel asks something by labels and values of the service', () => {
  const { panels } = JSON.parse(read('deploy/grafana/firsthand.json')) as {
    panels: { id: number; title: string; targets: { expr: string; legendFormat: string }[] }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { title, targets } of panels) {
    expect(targets.length, title).toBeGreaterThan(0);
    for (const { expr, legendFormat } of targets) {
      expect(expr, title).toContain('_');
      expect(unknownLabels(expr, legendFormat), title).toEqual([]);
    }
  }
});

test('every metric of the service has a panel', () => {
  const dashboard = read('deploy/grafana/firsthand.json');
  expect([...LABELS.keys()].filter((name) => name.startsWith('firsthand_') && !dashboard.includes(name))).toEqual([]);
});

test('prometheus-adapter serves every metric on which the chart scales', () => {
  const { autoscaling } = load(read('deploy/helm/firsthand/values.yaml')) as {
    autoscaling: { lag: Record<'process' | 'deliver', { metric: string }> };
  };
  const { rules } = load(read('deploy/prometheus/adapter.yaml')) as { rules: { external: Record<string, unknown>[] } };
  const { process, deliver } = autoscaling.lag;
  expect(rules.external).toEqual(
    [process, deliver].map(({ metric }) => ({
      seriesQuery: `${metric}{namespace!=""}`,
      resources: { overrides: { namespace: { resource: 'namespace' } } },
      metricsQuery: 'max(<<.Series>>{<<.LabelMatchers>>})',
    })),
  );
});

describe('the image', () => {
  test('fills the compile cache as the user that runs it (Node keeps one per user id, and the cache of root was never read)', () => {
    const [, final = ''] = read('Dockerfile').split(/^FROM .+slim$/m);
    const user = /^USER (\d+)$/m.exec(final)?.[1];
    expect(final).toContain(`setpriv --reuid=${user} --regid=${user} --clear-groups node scripts/warm-compile-cache.ts`);
  });
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
