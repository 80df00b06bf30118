import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ItemScan, itemsOf } from './batch-items.ts';
import { scanJson, TOO_DEEP } from './scan-json.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
/** The items' own text; undefined for one that is neither an object nor a list. */
function textsOf(json: string): (string | undefined)[] | undefined {
  const all = bytes(json);
  const scanned = itemsOf(all, 'batch', 64);
  const items = scanned === 'too_deep' ? undefined : scanned.items;
  if (items === undefined) return undefined;
  return Array.from({ length: items.length / 2 }, (_, i) =>
    items[2 * i + 1] === 0 ? undefined : new TextDecoder().decode(all.subarray(items[2 * i], items[2 * i + 1])),
  );
}

test.each<[string, (string | undefined)[] | undefined]>([
  ['{"batch":[{"a":1},{"b":[2]}]}', ['{"a":1}', '{"b":[2]}']],
  ['{"context":{"batch":[{"no":1}]},"batch":[{"a":1}]}', ['{"a":1}']],
  ['{ "batch" : [ { "a" : 1 } , {} ] , "sentAt" : "x" }', ['{ "a" : 1 }', '{}']],
  ['{"batch":[1,{"a":1},"x,]}{",null,[3]]}', [undefined, '{"a":1}', undefined, undefined, '[3]']],
  ['{"batch":[{"a":"}],\\"{\\\\"}]}', ['{"a":"}],\\"{\\\\"}']],
  ['{"batch":[{"a":1}],"batch":[{"a":2}]}', ['{"a":2}']],
  ['{"other":[{"a":1}],"x":"batch"}', undefined],
  ['{"b\\u0061tch":[{"a":1}]}', undefined],
  ['{"batch":"none"}', undefined],
  ['[{"batch":[{"a":1}]}]', undefined],
  ['{"batch":[{"é":"ü"},{"😀":"[","b":"\\ud800"}]}', ['{"é":"ü"}', '{"😀":"[","b":"\\ud800"}']],
])('%s', (json, items) => {
  expect(textsOf(json)).toEqual(items);
});

test('detects excessive nesting, like the check of single events', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), fc.integer({ min: 0, max: 8 }), (json, max) => {
      expect(itemsOf(bytes(json), 'batch', max) === 'too_deep').toBe(scanJson(bytes(json), max) === TOO_DEEP);
    }),
  );
  expect(itemsOf(bytes('{"batch":['.repeat(100_000)), 'batch', 64)).toBe('too_deep');
});

test('finds every item of any batch, with any surrounding fields and whitespace', () => {
  const rest = fc.dictionary(
    fc.string().filter((key) => key !== 'batch' && key !== '__proto__'),
    fc.jsonValue(),
  );
  const spaces = fc.constantFrom(0, 1, 3, '\t', ' \n');
  fc.assert(
    fc.property(rest, fc.array(fc.jsonValue(), { minLength: 1 }), rest, spaces, (before, batch, after, space) => {
      const json = JSON.stringify({ ...before, batch, ...after }, null, space);
      const texts = textsOf(json);
      // A key of a list beside it may need an escape.
      if (texts === undefined) {
        expect(json).toContain('\\');
        return;
      }
      expect(texts.map((text) => (text === undefined ? undefined : JSON.parse(text)))).toEqual(
        (JSON.parse(json) as { batch: unknown[] }).batch.map((item) => (typeof item === 'object' && item !== null ? item : undefined)),
      );
    }),
  );
});

test.each([
  ['{"batch":[{"a":1}]}', false],
  ['{"batch":[{"a":1e3}]}', true],
  ['{"batch":[{"a":"1e3"}],"context":{"id":9007199254740993}}', true],
  ['{"batch":[-1234567890123456]}', true],
])('%s: long numbers %s', (json, longNumbers) => expect(itemsOf(bytes(json), 'batch', 64)).toMatchObject({ longNumbers }));

test('a scan in steps of any length finds the same', () => {
  const text = fc.oneof(
    fc.json({ maxDepth: 6 }),
    fc.jsonValue().map((value) => JSON.stringify({ batch: [value, value], '\\"': [value] })),
    fc.string(),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (json, step) => {
      const scan = new ItemScan(bytes(json), 'batch', 5, 3);
      for (let to = step; to < bytes(json).length + step; to += step) scan.run(to);
      expect(scan.result()).toEqual(itemsOf(bytes(json), 'batch', 5, 3));
    }),
  );
});
