import { expect, test } from 'vitest';
import { addEvent, removeSection, typedLike } from './draft.ts';

const order = { mappings: [{ source: 'properties.total', target: 'value' }] };

test('an event that is mapped already keeps its mapping when it is added again', () => {
  const config = { events: { 'Order Completed': order } };
  expect(addEvent(config, 'Order Completed')).toEqual(config);
  expect(addEvent(config, 'Cart Viewed')).toEqual({ events: { 'Order Completed': order, 'Cart Viewed': { mappings: [] } } });
});

test('of several entries of an event only the named one is removed', () => {
  const second = { vendor_event_name: 'Lead', mappings: [] };
  const config = { url: 'u', events: { A: [order, second], B: order } };
  expect(removeSection(config, ['events', 'A', 0, 'mappings'])).toEqual({ url: 'u', events: { A: [second], B: order } });
  expect(removeSection({ events: { A: [order] } }, ['events', 'A', 0, 'mappings'])).toEqual({ events: {} });
  expect(removeSection(config, ['events', 'B', 'mappings'])).toEqual({ url: 'u', events: { A: [order, second] } });
});

test.each([
  [1, '12', 12],
  [true, 'false', false],
  [{ a: 1 }, '{"a":2}', { a: 2 }],
  [1, '1x', '1x'],
  ['1', '12', '12'],
  [1, '"a"', '"a"'],
])('over %j, %j is typed as %j', (before, text, after) => {
  expect(typedLike(before, text)).toEqual(after);
});
