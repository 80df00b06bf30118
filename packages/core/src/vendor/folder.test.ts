import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalEvent } from '../event/canonical.ts';
import { compileFolder } from './folder.ts';

const event = (over: Partial<CanonicalEvent> = {}): CanonicalEvent => ({
  event_id: 'e1',
  type: 'track',
  event: 'Order Completed',
  timestamp: '2026-01-31T13:05:00.000Z',
  context: {},
  ...over,
});
function render(template: string, over: Partial<CanonicalEvent> = {}): string {
  const folder = compileFolder(template, { prefix: 'raw/' }, 'pl_1');
  return folder.ok ? folder.render({ timestamp: event(over).timestamp, head: event(over) }) : `fault: ${folder.message}`;
}

test.each<[string, Partial<CanonicalEvent>, string]>([
  ['', {}, ''],
  ['{{parameters.prefix}}{year}/{month}/{day}/{hour}/', {}, 'raw/2026/01/31/13/'],
  ['dt={date}/hour={hour}', {}, 'dt=2026-01-31/hour=13/'],
  ['{pipeline}/{type}/{event}', {}, 'pl_1/track/order_completed/'],
  ['{hour}', { timestamp: '2026-01-31T13:05:00+02:00' }, '11/'],
  ['{date}', { timestamp: 'never' }, '0000-00-00/'],
  ['{event}', { event: '../../etc/passwd' }, '__.._etc_passwd/'],
  ['{event}', { event: 'Añadir al carrito' }, 'añadir_al_carrito/'],
  ['{event}', { event: '' }, '_/'],
  ['{event}', { event: 'x'.repeat(300) }, `${'x'.repeat(100)}/`],
  // A file system refuses a folder of 300 bytes: the events became dead letters.
  ['{event}', { event: '注'.repeat(100) }, `${'注'.repeat(66)}/`],
  ['{event}', { event: `x${'𠀀'.repeat(100)}` }, `x${'𠀀'.repeat(49)}/`],
  ['{minute}', {}, 'fault: has no part {minute}: use {year}, {month}, {day}, {hour}, {date}, {event}, {type}, {pipeline}'],
  ['a/../b', {}, 'fault: must not contain . or .. as a folder, nor an empty one'],
  ['/a', {}, 'fault: must not contain . or .. as a folder, nor an empty one'],
])('%j of %j is %j', (template, over, expected) => {
  expect(render(template, over)).toBe(expected);
});

test('no event name leaves its folder', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      expect(render('a/{event}/b', { event: name })).toMatch(/^a\/[^/\\\u0000]+\/b\/$/);
      expect(render('{event}', { event: name })).not.toMatch(/^\.+\/$/);
    }),
  );
});
