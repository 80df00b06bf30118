import type { Registry } from 'prom-client';
import { AttemptCounts } from '../../packages/server/src/roles/deliver/attempt-counts.ts';
import { registerBacklogGauges } from '../../packages/server/src/roles/deliver/backlog-gauges.ts';
import { registerSourceGauges } from '../../packages/server/src/roles/ingest/consumers/source-gauges.ts';
import { registerLagGauge } from '../../packages/server/src/roles/process/lag-gauge.ts';
import { systemClock } from '../../packages/server/src/runtime/clock.ts';
import { createMetrics } from '../../packages/server/src/runtime/metrics.ts';
import { registerSpaceGauge } from '../../packages/server/src/stores/disk-space.ts';
import { code, generatedFrom, type Page, table } from './page.ts';

/** A registry with every metric that the service registers. A test compares it with a running service's `/metrics`. */
export function allMetrics(): Registry {
  const { registry } = createMetrics();
  new AttemptCounts().register(registry);
  registerBacklogGauges(registry, () => [], systemClock);
  registerSourceGauges(registry, () => []);
  registerLagGauge(registry, { lag: async () => ({ waiting: 0, oldest: undefined }) }, () => [], systemClock);
  registerSpaceGauge(registry, {});
  return registry;
}

export function metricsPages(): Page[] {
  const own = allMetrics()
    .getMetricsAsArray()
    .map((object) => {
      // prom-client's types leave out the properties that every metric has.
      const { name, type, labelNames, help } = object as unknown as { name: string; type: string; labelNames: string[]; help: string };
      return { name, type, labels: labelNames, help };
    })
    .filter(({ name }) => name.startsWith('firsthand_'))
    .sort((a, b) => a.name.localeCompare(b.name));
  const text = `${generatedFrom("the service's metrics registry")}# Metrics

\`GET /metrics\` serves the metrics of one process in the Prometheus text format. Each process counts for itself: sum over processes.
A metric whose source does not answer is left out: while the event log is away, backlog and lag are.
Besides the metrics below there are the usual ones of Node and the process (\`nodejs_…\`, \`process_…\`).

${table(
  ['metric', 'type', 'labels', 'meaning'],
  own.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', ') || '–', help]),
)}
`;
  return [{ file: 'docs/reference/metrics.md', text }];
}
