import { expect, test } from 'vitest';
import { mergeLive, type Row, rowOf } from './rows.ts';

const row = (event_id: string, verdicts: Row['verdicts'] = []): Row => ({
  event_id,
  pipeline_id: 'pl_1',
  type: 'track',
  event_name: 'Order Completed',
  user_id: null,
  anonymous_id: null,
  received_at: '2026-05-01T10:00:00.000Z',
  status: 'processed',
  reason: null,
  path: null,
  value: null,
  webhook: false,
  verdicts,
});

test('an event that is live and listed is shown once, with the newest result per integration', () => {
  const listed = [
    row('a', [
      { integration_id: 'x', status: 'waiting' },
      { integration_id: 'y', status: 'delivered' },
    ]),
    row('b'),
  ];
  const live = [row('c'), row('a', [{ integration_id: 'x', status: 'delivered' }])].map((one) => ({ ...one, isNew: true }));
  const merged = mergeLive(live, listed);
  expect(merged.map(({ event_id }) => event_id)).toEqual(['c', 'a', 'b']);
  expect(merged[1]?.verdicts).toEqual([
    { integration_id: 'x', status: 'delivered' },
    { integration_id: 'y', status: 'delivered' },
  ]);
});
test('a row shows the value, the path and whether it came as a webhook', () => {
  const listed = {
    ...row('a'),
    event: { properties: { total: 42, currency: 'EUR', path: '/cart' }, context: { source: 'webhook' } },
    deliveries: [],
  };
  expect(rowOf(listed)).toMatchObject({ value: '42.00 EUR', path: '/cart', webhook: true });
});
test('a rejected event shows what was sent, whatever it is', () => {
  const about = {
    event_id: 'r',
    pipeline_id: 'pl_1',
    received_at: '2026-05-01T10:00:00.000Z',
    status: 'rejected',
    reason: 'missing_field',
  };
  expect(rowOf({ ...about, raw: { type: 'track', event: 'X', userId: 'u' } })).toMatchObject({ event_name: 'X', user_id: 'u' });
  expect(rowOf({ ...about, raw: 'no json' })).toMatchObject({ event_name: null, type: 'track' });
});
