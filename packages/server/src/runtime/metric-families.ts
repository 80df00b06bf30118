/** The metrics of a process as data: for the text of `/metrics`, for OTLP, and to add up those of two threads. */
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { Logger } from './logger.ts';
import { turns } from './turns.ts';

export type MetricFamily = Omit<MetricObjectWithValues<MetricValue<string>>, 'values'> & {
  values: (MetricValue<string> & { metricName?: string })[];
};
export type ReadMetrics = () => Promise<MetricFamily[]>;

/**
 * With turns of the loop in between: some have a value for each of thousands of integrations. A metric that cannot be read is left out: while the
 * event log is away somebody looks at the others.
 */
export async function familiesOf(registry: Registry, onUnreadable: (name: string, error: unknown) => void): Promise<MetricFamily[]> {
  const families: MetricFamily[] = [];
  for (const metric of registry.getMetricsAsArray()) {
    await turns.bulk();
    // The types of prom-client leave out `get`, which all metrics have, those of `registerRead` included.
    const { name, get } = metric as unknown as { name: string; get(): Promise<MetricFamily> };
    try {
      families.push(await get.call(metric));
    } catch (error) {
      onUnreadable(name, error);
    }
  }
  return families;
}

export const logUnreadable =
  (logger: Logger) =>
  (metric: string, err: unknown): void =>
    logger.warn({ err, metric }, 'metric cannot be read, left out');

/** Counts of both, and of gauges the higher one: nothing but ages and longest times is measured in both. */
export function addUp(ours: readonly MetricFamily[], others: readonly MetricFamily[]): MetricFamily[] {
  const byName = new Map(ours.map((family) => [family.name, family]));
  for (const family of others) {
    const own = byName.get(family.name);
    byName.set(family.name, own === undefined ? family : { ...own, values: together(own, family) });
  }
  return [...byName.values()];
}

function together(one: MetricFamily, other: MetricFamily): MetricFamily['values'] {
  const isGauge = String(one.type) === 'gauge';
  const byLabels = new Map(one.values.map((each) => [keyOf(each), each]));
  for (const each of other.values) {
    const key = keyOf(each);
    const own = byLabels.get(key);
    const value = own === undefined ? each.value : isGauge ? Math.max(own.value, each.value) : own.value + each.value;
    byLabels.set(key, { ...each, value });
  }
  return [...byLabels.values()];
}
const keyOf = ({ metricName = '', labels }: MetricFamily['values'][number]) => metricName + JSON.stringify(Object.entries(labels).sort());
