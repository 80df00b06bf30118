import { expect, test } from 'vitest';
import { lineFault, placeFaults, syntaxFault } from './text-faults.ts';

const text = JSON.stringify(
  { 'Order Completed': { type: 'object', properties: { 'total.net': { type: 'numbre' } } }, Order: [{ target: 'a' }, { target: 'b' }] },
  null,
  2,
);
const lineOf = (at: number) => text.slice(0, at).split('\n').length - 1;
const place = (field: string, root = '') => {
  const [fault] = placeFaults(text, [{ field, message: 'is wrong' }], root);
  return [text.split('\n')[lineOf(fault?.at ?? -1)]?.trim(), fault?.message];
};

test.each([
  ['Order Completed.properties.total.net.type', '', '"type": "numbre"', 'is wrong'],
  ['events.Order Completed.type', 'events', '"type": "object",', 'is wrong'],
  ['events.Order[1].target', 'events', '"target": "b"', 'is wrong'],
  ['Order[1].source', '', '{', 'source is wrong'],
  ['Order[7].target', '', '"Order": [', '[7].target is wrong'],
  ['events', 'events', '{', 'is wrong'],
])('%s is found', (field, root, line, message) => {
  expect(place(field, root)).toEqual([line, message]);
});

test('a number that would lose digits is a fault at its place', () => {
  const rules = '[{"value": 12},\n {"value": 12345678901234567890}]';
  expect(syntaxFault(rules)).toEqual({ at: rules.indexOf('12345678901'), message: expect.stringContaining('cannot be kept exactly') });
});

test('a text that is no JSON has its fault where it stops being JSON', () => {
  expect(syntaxFault('{"a": 1}')).toBeUndefined();
  const broken = '{\n  "a": 1\n  "b": 2\n}';
  const fault = syntaxFault(broken);
  expect(broken.slice(0, fault?.at).split('\n')).toHaveLength(3);
  expect(fault?.message).not.toBe('');
});

test('a message about code is placed at the line it names', () => {
  const code = 'function transform(e) {\n return }}';
  expect(lineFault(code, 'line 2: SyntaxError').at).toBe(code.indexOf(' return'));
  expect(lineFault(code, 'Line 2: SyntaxError').at).toBe(code.indexOf(' return'));
  expect(lineFault(code, 'the code defines no function').at).toBe(0);
  expect(lineFault(code, 'line 9: away').at).toBe(code.length);
});
