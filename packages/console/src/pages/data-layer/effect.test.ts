import type { DataLayerConfig } from '@firsthand/core/config/resources.ts';
import { mergeDataLayer } from '@firsthand/core/process/compiled.ts';
import { expect, test } from 'vitest';
import { dataLayerEffect, effectText } from './effect.ts';

const BROWSER = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';
const before = mergeDataLayer({}, []);
const events = ['https://shop.example/a', 'https://shop.example/checkout'].map((url, at) => ({
  pipeline_id: 'pl_1',
  event: {
    event_id: `e${at}`,
    type: 'page' as const,
    timestamp: '2026-05-01T12:00:00.000Z',
    context: { user_agent: at === 0 ? 'curl/8.0' : BROWSER, page: { url }, ip: '203.0.113.77' },
  },
}));
const effectOf = (change: Partial<DataLayerConfig>) => dataLayerEffect(before, { ...before, ...change }, events);

test('counts events that a change newly drops, no longer drops, or changes', async () => {
  const rule = { condition: { field: 'context.page.url', op: 'contains', value: '/checkout' }, action: 'drop' } as const;
  expect(await effectOf({ routing_rules: [rule] })).toEqual({ compared: 2, newlyDropped: 1, noLongerDropped: 0, changed: 0 });
  expect(await dataLayerEffect({ ...before, routing_rules: [rule] }, before, events)).toMatchObject({ noLongerDropped: 1 });
  expect(await effectOf({ bot_filtering: { ...before.bot_filtering, action: 'drop' } })).toMatchObject({ newlyDropped: 1 });
  const ip = await effectOf({ pii_rules: { ...before.pii_rules, ip: 'drop' } });
  expect(ip).toMatchObject({ newlyDropped: 0, changed: 2 });
  expect(effectText(ip)).toBe('Of the last 2 events of all pipelines 2 would be changed.');
});

test('a change that concerns none of the events asks nothing', async () => {
  const effect = await effectOf({ session: { ...before.session, timeout_minutes: 5 } });
  expect([effect.compared, effectText(effect)]).toEqual([2, undefined]);
});
