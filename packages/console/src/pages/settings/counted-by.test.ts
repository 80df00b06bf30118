import type { AlertKind } from '@firsthand/core/config/alert.ts';
import { expect, test } from 'vitest';
import { countedBy, countOf } from './counted-by.ts';

test('an alert leads to what it counted, in the window before it fired', () => {
  const fired = { pipeline_id: 'pl_1', integration_id: null, window_minutes: 15, since: '2026-05-01T12:15:30.000Z' };
  const at = (kind: AlertKind, more: object = {}) => countedBy({ kind, ...fired, ...more });
  const range = '2026-05-01T12:00:00.000Z/2026-05-01T12:15:30.000Z';
  expect(at('failing', { integration_id: 'int_1' })).toEqual({
    to: '/events',
    search: { pipeline: 'pl_1', integration: 'int_1', delivery: 'failed', range },
  });
  expect(at('silent')).toEqual({
    to: '/events',
    search: { pipeline: 'pl_1', range },
  });
  expect(at('backlog', { pipeline_id: null })).toEqual({ to: '/events', search: { delivery: 'waiting' } });
  expect(at('dead_letters')).toEqual({ to: '/dead-letters', search: { pipeline: 'pl_1', stage: 'accepted', status: 'all', range } });
  expect(at('plan_violations')).toEqual({ to: '/events', search: { pipeline: 'pl_1', plan: 'violated', range } });
  expect(at('rejected')).toEqual({ to: '/events', search: { pipeline: 'pl_1', status: 'rejected', range } });
});

test.each([
  ['12 delivery attempts', ' failed in the last 15 minutes (http_500).'],
  ['1 delivery attempt', ' failed in the last minute (http_500).'],
  ['Only 3 events', ' arrived in the last 10 minutes; at least 20 were expected.'],
  ['No event', ' arrived in the last 10 minutes; at least 1 was expected.'],
  ['2 events', ' wait for delivery.'],
  ['1 event', ' became a dead letter in the last 15 minutes (http_400).'],
])('the number of a message leads to what it counts: %s', (count, rest) => {
  expect(countOf(count + rest)).toEqual({ count, rest });
});
