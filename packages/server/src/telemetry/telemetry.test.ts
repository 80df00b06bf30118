import type { Outcome } from '@firsthand/core/outcome/outcome.ts';
import fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { familiesOf } from '../runtime/metric-families.ts';
import { eventSpans, traceIds } from './event-spans.ts';
import { encodeMetrics, encodeSpan, encodeSpans } from './otlp.ts';
import { registryMetrics } from './registry-metrics.ts';

const one = { org_id: 'org_1', pipeline_id: 'pl_1', event_id: 'e-1' };
const attempt = { at: '2026-11-16T10:00:01.000Z', status: 503, error: 'HTTP 503', duration_ms: 40 };
const at = Date.parse('2026-11-16T10:00:02.000Z');
const letter = { ...one, id: 'dl_1', integration_id: 'in_1', stage: 'delivery', reason: 'retries_exhausted', attempts: [attempt] };

const OUTCOMES: [name: string, outcome: object, span: object | undefined][] = [
  [
    'an event that was processed',
    { kind: 'processed', ...one, at, received_at: at - 5, type: 'track', event: 'Order Completed', decisions: [] },
    {
      name: 'process track',
      kind: 'internal',
      start: at - 5,
      end: at,
      attributes: { 'firsthand.event': 'Order Completed', 'firsthand.result': 'processed' },
    },
  ],
  [
    'an event that was dropped',
    { kind: 'dropped', ...one, at, received_at: at, type: 'page', reason: 'bot' },
    { name: 'process page', attributes: { 'firsthand.result': 'dropped', 'firsthand.reason': 'bot' } },
  ],
  [
    'a clock that went back',
    { kind: 'processed', ...one, at, received_at: at + 7, type: 'track', decisions: [] },
    { start: at + 7, end: at + 7 },
  ],
  [
    'an event that one integration dropped',
    { kind: 'dropped', ...one, at, received_at: at, type: 'page', integration_id: 'in_1', reason: 'event_filtered' },
    {
      name: 'deliver',
      parentSpanId: traceIds(one).rootSpanId,
      attributes: { 'firsthand.integration_id': 'in_1', 'firsthand.reason': 'event_filtered' },
    },
  ],
  [
    'a delivery',
    {
      kind: 'delivered',
      ...one,
      at,
      integration_id: 'in_1',
      attempt: { ...attempt, status: 200, error: null },
      received_at: at,
      duration_ms: 9,
    },
    { name: 'deliver', kind: 'client', start: at - 1_000, end: at - 960, attributes: { 'http.response.status_code': 200 } },
  ],
  [
    'a failed attempt',
    { kind: 'retrying', ...one, at, integration_id: 'in_1', attempt, due_at: at },
    { error: 'HTTP 503', attributes: { 'http.response.status_code': 503, 'firsthand.result': 'retrying' } },
  ],
  [
    'a dead letter',
    { kind: 'dead_lettered', ...one, at, type: 'track', dead_letter: letter },
    { name: 'deliver', error: 'retries_exhausted', attributes: { 'firsthand.stage': 'delivery' } },
  ],
  [
    'a dead letter of processing',
    {
      kind: 'dead_lettered',
      ...one,
      at,
      type: 'track',
      dead_letter: { ...letter, integration_id: null, stage: 'processing', attempts: [] },
    },
    { name: 'process track', error: 'retries_exhausted' },
  ],
  ['counts', { kind: 'ingest_counts', ...one, at, received: 1, rejected: {}, duplicates: 0 }, undefined],
];

describe('spans of an event', () => {
  test.each(OUTCOMES)('%s', (_name, outcome, expected) => {
    const [span] = eventSpans([outcome as Outcome], 1);
    if (expected === undefined) return expect(span).toBeUndefined();
    expect(span).toMatchObject({ ...expected, traceId: traceIds(one).traceId });
    expect(span?.spanId).toMatch(/^[0-9a-f]{16}$/);
  });

  test('carry neither the user id nor the anonymous id', () => {
    const outcome = {
      kind: 'processed',
      ...one,
      at,
      received_at: at,
      type: 'track',
      decisions: [],
      user_id: 'u@x.org',
      anonymous_id: 'anon-77',
    };
    expect(JSON.stringify(eventSpans([outcome as Outcome], 1))).not.toMatch(/u@x\.org|anon-77/);
  });

  test('a share of events is traced with all their spans', () => {
    const outcomes = (event_id: string) => OUTCOMES.slice(0, 8).map(([, outcome]) => ({ ...outcome, event_id }) as Outcome);
    const kept = Array.from({ length: 1_000 }, (_, i) => eventSpans(outcomes(`e-${i}`), 0.25).length);
    expect(new Set(kept)).toEqual(new Set([0, 8]));
    expect(kept.filter((n) => n > 0).length).toBeGreaterThan(180);
    expect(kept.filter((n) => n > 0).length).toBeLessThan(320);
  });
});

test('spans are encoded as OTLP', () => {
  const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'deliver', kind: 'client' as const, start: 1.5, end: 2 };
  const text = encodeSpans({ attributes: { 'service.name': 'shop' } }, [
    encodeSpan({ ...span, attributes: { status: 200, share: 0.5, ok: true }, error: 'no' }),
  ]);
  expect(JSON.parse(text)).toEqual({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
        scopeSpans: [
          {
            scope: { name: 'firsthand' },
            spans: [
              {
                ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'deliver', kind: 3 },
                ...{ startTimeUnixNano: '1500000', endTimeUnixNano: '2000000', status: { code: 2, message: 'no' } },
                attributes: [
                  { key: 'status', value: { intValue: '200' } },
                  { key: 'share', value: { doubleValue: 0.5 } },
                  { key: 'ok', value: { boolValue: true } },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
});

test('times keep their millisecond through nanoseconds', () => {
  const nanoseconds = (ms: number) => {
    const span = { traceId: '', spanId: '', name: '', kind: 'internal' as const, start: ms, end: ms, attributes: {} };
    return JSON.parse(encodeSpan(span)).startTimeUnixNano;
  };
  fc.assert(fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (ms) => nanoseconds(ms) === `${BigInt(ms) * 1_000_000n}`));
});

test('the registry is exported with its names and labels', async () => {
  const registers = [new Registry()] as const;
  new Counter({ name: 'events_total', help: 'Events.', labelNames: ['reason'], registers: [...registers] }).inc({ reason: 'bot' }, 3);
  new Gauge({ name: 'age_seconds', help: 'Age.', registers: [...registers] }).set(1.5);
  const histogram = new Histogram({
    name: 'duration_seconds',
    help: 'Time.',
    labelNames: ['vendor'],
    buckets: [0.1, 1],
    registers: [...registers],
  });
  for (const seconds of [0.05, 0.06, 0.5, 7]) histogram.observe({ vendor: 'x' }, seconds);
  const metrics = registryMetrics(await familiesOf(registers[0], (name) => expect.unreachable(name)));
  expect(metrics).toEqual([
    { name: 'events_total', help: 'Events.', kind: 'counter', points: [{ attributes: { reason: 'bot' }, value: 3 }] },
    { name: 'age_seconds', help: 'Age.', kind: 'gauge', points: [{ attributes: {}, value: 1.5 }] },
    {
      ...{ name: 'duration_seconds', help: 'Time.', kind: 'histogram' },
      points: [{ attributes: { vendor: 'x' }, count: 4, sum: 7.61, bounds: [0.1, 1], buckets: [2, 1, 1] }],
    },
  ]);
  const [encoded] = JSON.parse(encodeMetrics({ attributes: {} }, metrics, 0, 1)).resourceMetrics[0].scopeMetrics[0].metrics;
  expect(encoded.sum).toMatchObject({
    aggregationTemporality: 2,
    isMonotonic: true,
    dataPoints: [{ asDouble: 3, timeUnixNano: '1000000' }],
  });
});
