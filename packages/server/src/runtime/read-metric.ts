import type { Registry } from 'prom-client';
import type { MetricFamily } from './metric-families.ts';

export interface MetricSource {
  name: string;
  help: string;
  type: 'gauge' | 'histogram';
  labelNames: string[];
  /** Called on every scrape. */
  read(): MetricFamily['values'] | Promise<MetricFamily['values']>;
}

/** A metric whose series are made when it is scraped. prom-client would make a text of the labels of each, to find it by. */
export function registerRead(registry: Registry, { name, help, type, labelNames, read }: MetricSource): void {
  const metric = {
    name,
    help,
    type,
    labelNames,
    get: async () => ({ name, help, type, aggregator: 'sum', values: await read() }),
    reset: () => undefined,
  };
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]); // the registry calls only these methods
}
