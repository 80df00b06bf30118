/** The metrics of `/metrics` in the shape of OTLP: the same names and labels, so that dashboards fit either way. */
import type { MetricFamily } from '../runtime/metric-families.ts';
import type { Attributes, HistogramPoint, Metric } from './otlp.ts';

type Value = MetricFamily['values'][number];

export function registryMetrics(families: readonly MetricFamily[]): Metric[] {
  return families.flatMap((family): Metric[] => {
    const { name, help, values } = family;
    // The types of prom-client say an enum; the values are its lower-case names.
    const type = String(family.type);
    if (type === 'histogram') return [{ name, help, kind: 'histogram', points: histogramPoints(name, values) }];
    if (type !== 'counter' && type !== 'gauge') return [];
    const points = values.map(({ labels, value }) => ({ attributes: attributesOf(labels), value }));
    return [{ name, help, kind: type, points: points.filter(({ value }) => Number.isFinite(value)) }];
  });
}

/** Prometheus counts buckets cumulatively, and lists them, sum and count as series of their own. */
function histogramPoints(name: string, values: Value[]): HistogramPoint[] {
  const points = new Map<string, HistogramPoint & { cumulative: number }>();
  for (const { labels, value, metricName } of values) {
    const { le, ...rest } = attributesOf(labels);
    const key = JSON.stringify(rest);
    let point = points.get(key);
    if (!point) points.set(key, (point = { attributes: rest, count: 0, sum: 0, bounds: [], buckets: [], cumulative: 0 }));
    if (metricName === `${name}_sum`) point.sum = value;
    else if (metricName === `${name}_count`) point.count = value;
    else if (le !== undefined) {
      point.buckets.push(value - point.cumulative);
      point.cumulative = value;
      if (le !== '+Inf') point.bounds.push(Number(le));
    }
  }
  return [...points.values()].map(({ cumulative: _, ...point }) => point);
}

function attributesOf(labels: Value['labels']): Attributes {
  return Object.fromEntries(Object.entries(labels).filter((entry): entry is [string, string | number] => entry[1] !== undefined));
}
