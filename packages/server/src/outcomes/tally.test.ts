import type { DeadLetter, Outcome } from '@firsthand/core/outcome/outcome.ts';
import { describe, expect, test } from 'vitest';
import { latencyBucket, percentile } from '../stores/observe/latency.ts';
import { tally } from './tally.ts';

const about = { at: 120_000, org_id: 'org_1', pipeline_id: 'pl_1', event_id: 'e1', type: 'track' as const, event: 'Order Completed' };
const attempt = { at: '2026-01-01T00:00:00.000Z', status: 200, error: null, duration_ms: 12 };
const letter: DeadLetter = {
  id: 'dlq_1',
  org_id: 'org_1',
  pipeline_id: 'pl_1',
  integration_id: 'int_1',
  webhook_source_id: null,
  vendor: 'webhook',
  revision_number: 1,
  event_id: 'e1',
  stage: 'delivery',
  event: { event_id: 'e1', type: 'track', timestamp: '', context: {} },
  attempts: [{ ...attempt, status: 503 }],
  reason: 'http_503',
  created_at: '',
  expires_at: '',
};
const counters = (outcomes: Outcome[]) =>
  Object.fromEntries(tally(outcomes).counters.map((row) => [`${row.integration_id}/${row.minute}/${row.counter}`, row.n]));

describe('adds up a batch of outcomes', () => {
  test.each<[string, Outcome[], Record<string, number>]>([
    [
      'a processed event was received in its own minute',
      [{ kind: 'processed', received_at: 59_000, decisions: [], ...about }],
      { '/0/received': 1, '/2/processed': 1 },
    ],
    [
      'a drop before routing balances what was received',
      [{ kind: 'dropped', reason: 'bot', received_at: 60_000, ...about }],
      { '/1/received': 1, '/2/dropped:bot': 1 },
    ],
    [
      'a drop for one integration is that integration’s',
      [{ kind: 'dropped', reason: 'event_filtered', integration_id: 'int_1', received_at: 0, ...about }],
      { 'int_1/2/dropped:event_filtered': 1 },
    ],
    [
      'equal counters add up',
      [1, 2].map(() => ({ kind: 'retrying' as const, integration_id: 'int_1', attempt, due_at: 1, ...about })),
      { 'int_1/2/retried': 2 },
    ],
    ['a dead letter of delivery', [{ kind: 'dead_lettered', dead_letter: letter, ...about }], { 'int_1/2/dead_lettered': 1 }],
    [
      'a dead letter of processing was received too',
      [{ kind: 'dead_lettered', dead_letter: { ...letter, integration_id: null, stage: 'processing' }, ...about }],
      { '/2/dead_lettered': 1, '/2/received': 1 },
    ],
    // It was counted as a received event, and listed as one.
    [
      'a webhook that could not be verified is no event',
      [{ kind: 'dead_lettered', dead_letter: { ...letter, integration_id: null, webhook_source_id: 'whs_1', stage: 'webhook' }, ...about }],
      { '/2/rejected:webhook_rejected': 1 },
    ],
    [
      'refusals and repeats at the door',
      [{ kind: 'ingest_counts', received: 5, rejected: { invalid_json: 2 }, duplicates: 3, ...about }],
      { '/2/duplicates': 3, '/2/rejected:invalid_json': 2 },
    ],
  ])('%s', (_name, outcomes, expected) => {
    expect(counters(outcomes)).toEqual(expected);
  });

  test('a delivery counts its latency, a replay does not', () => {
    const delivered = { kind: 'delivered' as const, integration_id: 'int_1', attempt, received_at: 0, duration_ms: 40, ...about };
    expect(counters([delivered])).toEqual({ 'int_1/2/delivered': 1, [`int_1/2/latency:${latencyBucket(40)}`]: 1 });
    expect(counters([{ ...delivered, replay: true }])).toEqual({ 'int_1/2/replayed': 1 });
  });

  test('a replay that fails again is not counted as an event again: it came once', () => {
    const dropped = {
      kind: 'dropped' as const,
      reason: 'mapping_filter' as const,
      integration_id: 'int_1',
      received_at: 0,
      replay: true,
      ...about,
    };
    const failed = { kind: 'dead_lettered' as const, dead_letter: letter, replay: true, ...about };
    expect(counters([dropped, failed])).toEqual({
      'int_1/2/dropped_again:mapping_filter': 1,
      'int_1/2/dead_lettered_again': 1,
    });
    // A replay of an event that failed in processing was counted as received again.
    const processed = { kind: 'processed' as const, received_at: 0, decisions: [], replay: true, again: true as const, ...about };
    expect(counters([processed])).toEqual({ '/2/processed': 1 });
    const { integration_id: _none, ...whole } = dropped;
    expect(counters([{ ...whole, reason: 'transformation' }])).toEqual({ '/2/dropped_again:transformation': 1 });
    expect(tally([failed]).deadLetters).toEqual([letter]);
    // It was counted as received again, and not as `dead_lettered_again`.
    const processing = { ...letter, integration_id: null, stage: 'processing' as const };
    expect(counters([{ ...failed, dead_letter: processing, received_at: 0, again: true }])).toEqual({ '/2/dead_lettered_again': 1 });
  });

  test('an event without a trace is counted, its deliveries keep the health, and its errors are traced', () => {
    const untraced = { ...about, untraced: true as const };
    const plain = tally([
      { kind: 'processed', received_at: 0, decisions: [], ...untraced },
      { kind: 'delivered', integration_id: 'int_1', attempt, received_at: 0, duration_ms: 40, ...untraced },
    ]);
    expect([plain.events, plain.steps, plain.untraced]).toEqual([[], [], []]);
    expect(plain.untracedSuccess).toMatchObject([{ integration_id: 'int_1', kind: 'delivered' }]);
    expect(plain.counters.map(({ counter }) => counter.split(':')[0]).sort()).toEqual(['delivered', 'latency', 'processed', 'received']);

    const failing = tally([
      { kind: 'retrying', integration_id: 'int_1', attempt, due_at: 1, received_at: 7, ...untraced },
      { kind: 'dropped', reason: 'event_filtered', integration_id: 'int_2', received_at: 7, ...untraced },
    ]);
    expect(failing.steps.map(({ kind }) => kind)).toEqual(['retrying', 'dropped']);
    expect(failing.untraced).toMatchObject([{ event_id: about.event_id, received_at: 7, result: 'processed', reason: 'untraced' }]);
  });

  test('text that PostgreSQL refuses never reaches a column', () => {
    const { events } = tally([{ kind: 'processed', received_at: 0, decisions: [], ...about, event: 'a\u0000b', user_id: '\ud800' }]);
    expect(events[0]).toMatchObject({ event: 'a\uFFFDb', user_id: '\uFFFD' });
  });
});

test('percentiles are accurate within 10 %', () => {
  const buckets = new Map<number, number>();
  for (let ms = 1; ms <= 1_000; ms++) buckets.set(latencyBucket(ms), (buckets.get(latencyBucket(ms)) ?? 0) + 1);
  expect(percentile(buckets, 0.5)! / 500).toBeCloseTo(1, 0.5);
  expect(Math.abs(percentile(buckets, 0.99)! / 990 - 1)).toBeLessThan(0.1);
  expect(percentile(new Map(), 0.5)).toBeNull();
});
