import { expect, test } from 'vitest';
import { addAlternative, addEvent, moveAlternative, removeEntry, sectionsOf, withKey } from './draft.ts';

const order = { mappings: [{ source: 'properties.total', target: 'value' }] };

test('an event that is mapped already keeps its mapping when it is added again', () => {
  const config = { events: { 'Order Completed': order } };
  expect(addEvent(config, 'Order Completed')).toEqual(config);
  expect(addEvent(config, 'Cart Viewed')).toEqual({ events: { 'Order Completed': order, 'Cart Viewed': { mappings: [] } } });
});

test('of several entries of an event only the named one is removed', () => {
  const second = { vendor_event_name: 'Lead', mappings: [] };
  const config = { url: 'u', events: { A: [order, second], B: order } };
  expect(removeEntry(config, ['events', 'A', 0])).toEqual({ url: 'u', events: { A: [second], B: order } });
  expect(removeEntry({ events: { A: [order] } }, ['events', 'A', 0])).toEqual({ events: {} });
  expect(removeEntry(config, ['events', 'B'])).toEqual({ url: 'u', events: { A: [order, second] } });
});

test('an event gets a second entry, and the entries change places', () => {
  const config = { events: { A: order } };
  const two = addAlternative(config, ['events', 'A']);
  expect(two).toEqual({ events: { A: [order, { mappings: [] }] } });
  expect(moveAlternative(two, ['events', 'A', 1], -1)).toEqual({ events: { A: [{ mappings: [] }, order] } });
  expect(moveAlternative(two, ['events', 'A', 1], 1)).toBe(two);
});

test('sections have the names that people and faults know them by', () => {
  const config = { events: { A: [{ vendor_event_name: 'Lead' }, { enabled: false }], B: {} } };
  expect(sectionsOf(config).map(({ key, title }) => [key, title])).toEqual([
    ['global', 'Global'],
    ['events.A[0]', 'A → Lead (1 of 2)'],
    ['events.A[1]', 'A (2 of 2)'],
    ['events.B', 'B'],
    ['defaults', 'Everything else'],
  ]);
});

test('a key without a value is left out', () => {
  expect(withKey({ a: 1, b: 2 }, 'b', undefined)).toEqual({ a: 1 });
  expect(withKey({ a: 1 }, 'b', 3)).toEqual({ a: 1, b: 3 });
});
