/**
 * A histogram of durations for hot paths: plain counters, copied into the registry only when it is scraped. `observe` costs a few
 * nanoseconds, a tenth of prom-client's own.
 */
import type { Registry } from 'prom-client';
import { registerRead } from './read-metric.ts';

/** Upper bounds in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class DurationBuckets {
  readonly #counts = new Array<number>(BOUNDS.length + 1).fill(0);
  #sum = 0;

  observe(seconds: number): void {
    let at = 0;
    while (at < BOUNDS.length && seconds > (BOUNDS[at] ?? 0)) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** The series of one histogram in Prometheus's cumulative form. */
  values(name: string, labels: Record<string, string>): { metricName: string; labels: Record<string, string>; value: number }[] {
    let total = 0;
    const buckets = this.#counts.map((count, at) => {
      total += count;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: String(BOUNDS[at] ?? '+Inf') }, value: total };
    });
    return [...buckets, { metricName: `${name}_sum`, labels, value: this.#sum }, { metricName: `${name}_count`, labels, value: total }];
  }
}

export interface HistogramSource {
  name: string;
  help: string;
  labelNames: string[];
  /** Called on every scrape. */
  read(): { labels: Record<string, string>; durations: DurationBuckets }[];
}

export function registerHistogram(registry: Registry, { read, ...source }: HistogramSource): void {
  const series = () => read().flatMap(({ labels, durations }) => durations.values(source.name, labels));
  registerRead(registry, { ...source, type: 'histogram', read: series });
}
