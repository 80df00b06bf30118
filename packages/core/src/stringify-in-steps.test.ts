import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finish } from './steps.ts';
import { stringifyInSteps } from './stringify-in-steps.ts';

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
const rawNumber = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('9007199254740993');

test.each<[name: string, value: unknown, steps: number]>([
  ['a list of small objects', { list: many(24_000, (a) => ({ a })) }, 3],
  ['many fields', Object.fromEntries(many(15_000, (n) => [`a_${n}`, `a text of some length ${n}`])), 8],
  ['numbers', many(150_000, (n) => n), 9],
  ['large members', many(5, (n) => ({ [`${n}`]: { texts: many(20, () => 'x'.repeat(9_999)) } })), 10],
  ['one text', { text: 'x'.repeat(900_000), list: [] }, 0],
])('a large value is written in steps: %s', (_name, value, steps) => {
  const yields = [...stringifyInSteps(value)].length;
  expect(yields).toBeGreaterThanOrEqual(steps);
  expect(finish(stringifyInSteps(value))).toBe(JSON.stringify(value));
});

test.each([
  { events: [], total: 0 },
  { events: [{ a: 1 }, null, undefined, 'x', [1, [2]]], none: undefined, at: new Date(0), nested: { list: [undefined, { b: undefined }] } },
  { text: '"\u2028\ud800', '"': 1, amounts: [rawNumber, { amount: rawNumber }], own: { toJSON: () => 'own', long: 'x'.repeat(99) } },
  Object.assign([1, 2], { toJSON: () => 'list' }),
  { ['__proto__']: { long: 'x'.repeat(99) }, a: Number.NaN },
  undefined,
  'text',
])('values that JSON.stringify treats specially: %#', (value) => {
  for (const stepChars of [1, 20, 1_000]) expect(finish(stringifyInSteps(value, stepChars))).toBe(JSON.stringify(value));
});

test('steps of any size write what JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 40 }), (value, stepChars) => {
      expect(finish(stringifyInSteps(value, stepChars))).toBe(JSON.stringify(value));
    }),
    { numRuns: 1_000 },
  );
});
