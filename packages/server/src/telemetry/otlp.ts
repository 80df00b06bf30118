/**
 * The JSON form of OTLP over HTTP, as far as we send it (opentelemetry-proto 1.x). Ids are hex, 64-bit numbers are decimal text.
 * Decision 0016 says why there is no SDK.
 */
export type Attributes = Record<string, string | number | boolean>;

export interface Resource {
  attributes: Attributes;
}
export interface Span {
  /** 32 hex digits. */
  traceId: string;
  /** 16 hex digits. */
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: 'internal' | 'client';
  /** Milliseconds since 1970. */
  start: number;
  end: number;
  attributes: Attributes;
  /** Set when the span failed. */
  error?: string;
}
export interface Point {
  attributes: Attributes;
  value: number;
}
export interface HistogramPoint {
  attributes: Attributes;
  count: number;
  sum: number;
  /** Upper bounds, without the last one, which is infinite. */
  bounds: number[];
  /** One more than bounds; not cumulative. */
  buckets: number[];
}
export type Metric = { name: string; help: string } & (
  | { kind: 'counter' | 'gauge'; points: Point[] }
  | { kind: 'histogram'; points: HistogramPoint[] }
);

const SCOPE = { name: 'firsthand' };
const SPAN_KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
const CUMULATIVE = 2;

/** JSON text. The recorder's thread makes it, so that the main thread only joins texts. */
export type EncodedSpan = string;

export function encodeSpan({ kind, start, end, attributes, error, ...rest }: Span): EncodedSpan {
  return JSON.stringify({
    ...rest,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: keyValues(attributes),
    ...(error === undefined ? {} : { status: { code: STATUS_ERROR, message: error } }),
  });
}

export function encodeSpans(resource: Resource, spans: readonly EncodedSpan[]): string {
  const [resourceText, scope] = [JSON.stringify(resourceOf(resource)), JSON.stringify(SCOPE)];
  return `{"resourceSpans":[{"resource":${resourceText},"scopeSpans":[{"scope":${scope},"spans":[${spans.join(',')}]}]}]}`;
}

/** @param start when counting began, milliseconds since 1970 */
export function encodeMetrics(resource: Resource, metrics: readonly Metric[], start: number, now: number): string {
  const at = { startTimeUnixNano: nanoseconds(start), timeUnixNano: nanoseconds(now) };
  const encoded = metrics.map((metric) => {
    const named = { name: metric.name, description: metric.help };
    if (metric.kind === 'histogram') {
      const dataPoints = metric.points.map(({ attributes, count, sum, bounds, buckets }) => ({
        ...at,
        attributes: keyValues(attributes),
        count: String(count),
        sum,
        explicitBounds: bounds,
        bucketCounts: buckets.map(String),
      }));
      return { ...named, histogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
    }
    const dataPoints = metric.points.map(({ attributes, value }) => ({ ...at, attributes: keyValues(attributes), asDouble: value }));
    return metric.kind === 'gauge'
      ? { ...named, gauge: { dataPoints } }
      : { ...named, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
  });
  return JSON.stringify({ resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics: [{ scope: SCOPE, metrics: encoded }] }] });
}

function resourceOf({ attributes }: Resource) {
  return { attributes: keyValues(attributes) };
}
function keyValues(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}
function anyValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}
