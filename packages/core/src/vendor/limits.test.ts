import { expect, test } from 'vitest';
import { compileCompact, compileJsonText, compileLimits, compileTogether, fitEventName, toIdentifier } from './limits.ts';

test.each([
  ['Order Completed', 'Order_Completed'],
  ['Überprüfung', 'Uberprufung'],
  ['2nd step', 'e_2nd_step'],
  ['__x', 'e_x'],
  ['日本', 'e'],
  ['', 'e'],
  ['a--', 'a'],
])('identifier of %s', (text, expected) => {
  expect(toIdentifier(text)).toBe(expected);
});

test('names are cut, styled and, where reserved, refused', () => {
  const rule = { target: 'n', style: 'identifier', max_length: 5, reserved: ['error'], reserved_prefixes: ['ga_'] } as const;
  expect(fitEventName('Checkout', rule as never)).toBe('Check');
  expect(fitEventName('error', rule as never)).toBeUndefined();
  expect(fitEventName('ga_x', rule as never)).toBeUndefined();
  expect(fitEventName('Quiz Taken', { target: 'n', style: 'lower_identifier' })).toBe('quiz_taken');
  expect(fitEventName('', { target: 'n' })).toBeUndefined();
  expect(fitEventName('a😀b', { target: 'n', max_length: 2 })).toBe('a');
});

test('a map is made to fit', () => {
  const payload = {
    m: { 'Plan Name': 'xxxxx', keep: [1, 2, 3], list: [1], none: null, long: 'yyyyyyyy', Plan_Name: 'other', last: 1, over: 2 } as Record<
      string,
      unknown
    >,
  };
  compileLimits([
    {
      path: 'm',
      max_keys: 4,
      key_style: 'identifier',
      max_string_length: 3,
      string_lengths: { long: 6 },
      scalars_only: true,
      keep: ['keep'],
      max_list_length: 2,
    },
  ])(payload);
  expect(payload.m).toEqual({ keep: [1, 2], long: 'yyyyyy', Plan_Name: 'oth', last: 1 });
});

test('keys in lower case: a key that has the form already wins', () => {
  const payload = { m: { 'Plan Name': 1, plan_name: 2, Seats: 3 } };
  compileLimits([{ path: 'm', key_style: 'lower_identifier' }])(payload);
  expect(payload.m).toEqual({ plan_name: 2, seats: 3 });
});

test('lists lose their empty elements, and objects their empty lists', () => {
  const payload: Record<string, unknown> = { a: { ids: [{}, { x: 1 }, null] }, b: [{}] };
  compileCompact([{ path: 'a.ids' }, { path: 'b' }, { path: 'c' }])(payload);
  expect(payload).toEqual({ a: { ids: [{ x: 1 }] } });
});

test('a very long list is compacted without an overflow of the stack', () => {
  const payload = { items: Array.from({ length: 400_000 }, (_, n) => (n === 7 ? {} : { n })) };
  compileCompact([{ path: 'items' }])(payload);
  expect(payload.items).toHaveLength(399_999);
  expect(payload.items[7]).toEqual({ n: 8 });
});

test('elements without what the vendor needs are left out', () => {
  const payload: Record<string, unknown> = { items: [{ id: 'a' }, { price: 1 }, { name: 'b' }] };
  compileCompact([{ path: 'items', needs: ['id', 'name'] }])(payload);
  expect(payload).toEqual({ items: [{ id: 'a' }, { name: 'b' }] });
});

test('fields that are only accepted together', () => {
  const fit = compileTogether([
    ['data.value', 'data.currency'],
    ['ip', 'agent'],
  ]);
  const payload = { data: { value: 1, other: 2 }, ip: 'a', agent: 'b' };
  fit(payload);
  expect(payload).toEqual({ data: { other: 2 }, ip: 'a', agent: 'b' });
});

test('an empty list may be kept, for vendors that require it', () => {
  const payload = { ids: [{}], other: [{}] };
  compileCompact([{ path: 'ids', keep_empty: true }, { path: 'other' }])(payload);
  expect(payload).toEqual({ ids: [] });
});

test('JSON inside JSON', () => {
  const payload = { value: { a: [1] }, none: {}, text: 'x' };
  compileJsonText(['value', 'none', 'text', 'missing'])(payload);
  expect(payload).toEqual({ value: '{"a":[1]}', none: '', text: 'x' });
});
