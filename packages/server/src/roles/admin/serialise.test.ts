import { expect, test } from 'vitest';
import { isList, stringifyInTurns } from './serialise.ts';

const rawNumber = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9007199254740993');
test.each([
  { events: [], total: 0 },
  { events: [{ a: 1 }, null, undefined, 'x', [1, [2]]], none: undefined, at: new Date(0), nested: { list: [undefined, { b: undefined }] } },
  {
    groups: [
      { id: 'a', series: Array.from({ length: 120 }, (_, n) => ({ n, text: '"\u2028\ud800' })), totals: {} },
      { id: 'b', series: [] },
    ],
  },
  { events: [{ list: Array.from({ length: 60 }, () => ({ amount: rawNumber })) }, { amount: rawNumber }], '"': 1 },
  { list: Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => 1)) },
])('text written in turns is the text of JSON.stringify: %#', async (value) => {
  expect(await stringifyInTurns(value)).toBe(JSON.stringify(value));
});

test('other objects are left to JSON.stringify', () => {
  expect([isList({ events: [1, 2] }), isList({ id: 1 }), isList({ toJSON: () => 1, list: [1, 2] }), isList('text'), isList(null)]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a large list leaves the loop between its entries', async () => {
  let served = 0;
  let timer = setImmediate(function again() {
    served += 1;
    timer = setImmediate(again);
  });
  const entry = { text: 'x'.repeat(200_000) };
  await stringifyInTurns({ events: Array.from({ length: 20 }, () => entry) });
  clearImmediate(timer);
  expect(served).toBeGreaterThan(10);
});
