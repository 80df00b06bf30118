import type { CanonicalEvent } from '@firsthand/core/event/canonical.ts';
import { expect, test } from 'vitest';
import { planEffect } from './plan-effect.ts';

const event = (event_id: string, of: Partial<CanonicalEvent>): CanonicalEvent => ({
  event_id,
  type: 'track',
  timestamp: '2026-05-01T12:00:00.000Z',
  context: {},
  ...of,
});
const plan = {
  'Order Completed': { type: 'object', required: ['total'] },
  '@screen': { type: 'object', required: ['name'] },
};

test('counts by event what fits and what does not, with the newest example; the events stay as they are', () => {
  const events = [
    event('o3', { event: 'Order Completed', properties: {} }),
    event('o2', { event: 'Order Completed', properties: { total: 1 } }),
    event('o1', { event: 'Order Completed', properties: {} }),
    event('s1', { type: 'page', original_type: 'screen', properties: { name: 'Cart' } }),
    event('p1', { type: 'page', properties: {} }),
  ];
  const before = structuredClone(events);
  const message = expect.stringContaining('total');
  expect(planEffect(plan, events)).toEqual({
    violating: 2,
    events: [
      { name: 'Order Completed', planned: true, count: 3, violating: 2, example: { event_id: 'o3', message } },
      { name: '@screen', planned: true, count: 1, violating: 0 },
      { name: '@page', planned: false, count: 1, violating: 0 },
    ],
  });
  expect(events).toEqual(before);
});

test('an empty plan checks nothing', () => {
  expect(planEffect({}, [event('a', { event: 'A' })])).toEqual({
    violating: 0,
    events: [{ name: 'A', planned: false, count: 1, violating: 0 }],
  });
});
