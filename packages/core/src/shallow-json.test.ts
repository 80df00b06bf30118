import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from './json.ts';
import { RawJson, shallowFields } from './shallow-json.ts';

/** Deep again, to compare with the parser. */
function whole(json: string): JsonObject | undefined {
  const fields = shallowFields(json);
  return (
    fields && (Object.fromEntries(fields.map(([name, value]) => [name, value instanceof RawJson ? value.parsed() : value])) as JsonObject)
  );
}

// Compared with the object itself: V8's parser reads the key `a"` as `a\` after it has seen an object with that key.
test('equals the written object, whatever it contains', () => {
  const text = fc.string({ unit: 'binary', maxLength: 8 });
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(text, fc.constantFrom('a', 'a"', 'a\\', 'event')), fc.jsonValue(), { maxKeys: 8 }), (object) => {
      const json = JSON.stringify(object);
      expect(JSON.stringify(whole(json))).toBe(json);
    }),
  );
});

test('names that follow those of another object are its own', () => {
  expect(whole('{"a\\\\":1,"b":2}')).toEqual({ 'a\\': 1, b: 2 });
  expect(whole('{"a\\"b":1,"bc":2}')).toEqual({ 'a"b': 1, bc: 2 });
  expect(whole('{"a":1,"b":2}')).toEqual({ a: 1, b: 2 });
  expect(whole('{"ab":1,"a":2}')).toEqual({ ab: 1, a: 2 });
});

test('nested values keep their text', () => {
  expect(shallowFields('{"n":{"a":[1,"}"]},"l":[{"b":"]"}]}')).toEqual([
    ['n', new RawJson('{"a":[1,"}"]}')],
    ['l', new RawJson('[{"b":"]"}]')],
  ]);
});

test.each([
  '',
  '[]',
  '5',
  '{',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{"a":1,',
  '{"a":1}x',
  '{"a":x}',
  '{"a":"x',
  '{"a":"\\x"}',
  '{ "a":1}',
  '{"a" :1}',
])('another form is left to the parser: %j', (json) => {
  expect(shallowFields(json)).toBeUndefined();
});
