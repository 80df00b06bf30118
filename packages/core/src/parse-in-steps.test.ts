import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInSteps } from './parse-in-steps.ts';
import { finish, type Steps } from './steps.ts';

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
function counted<T>(steps: Steps<T>): { value: T; yields: number } {
  for (let yields = 0; ; yields++) {
    const step = steps.next();
    if (step.done) return { value: step.value, yields };
  }
}
const mappings = many(6_000, (n) => ({ source: `properties.a_${n}`, target: `b_${n}` }));

test.each<[name: string, value: unknown, steps: number]>([
  ['a config', { url: 'u', events: { A: { mappings }, B: { mappings } }, last: 1 }, 9],
  ['many fields', Object.fromEntries(many(15_000, (n) => [`a_${n}`, `a text of some length ${n}`])), 8],
  ['one text', { text: 'x'.repeat(900_000), list: [] }, 1],
  ['a large text between small ones', [1, 'x'.repeat(99_999), { a: [] }, many(99, () => 'x'.repeat(9_999)), {}], 14],
])('a large text is parsed in steps: %s', (_name, value, steps) => {
  const text = JSON.stringify(value);
  const parsed = counted(parseInSteps(text));
  expect(JSON.stringify(parsed.value)).toBe(text);
  expect(parsed.yields).toBeGreaterThanOrEqual(steps);
});

const parsedBy = (parse: () => unknown): string => {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    if (error instanceof SyntaxError) return 'not JSON';
    throw error;
  }
};
/** With spaces, and with characters that a fault adds, removes or replaces. */
const texts = fc
  .tuple(fc.jsonValue({ maxDepth: 5 }), fc.nat(2), fc.nat(), fc.constantFrom('', ...'[]{},:"\\ 1e-'), fc.nat(1), fc.boolean())
  .map(([value, indent, at, added, removed, isDamaged]) => {
    const text = JSON.stringify(value, null, indent);
    const place = at % (text.length + 1);
    return isDamaged ? text.slice(0, place) + added + text.slice(place + removed) : text;
  });

test('steps of any size parse what JSON.parse does, and reject what it rejects', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, stepChars) => {
      expect(parsedBy(() => finish(parseInSteps(text, stepChars)))).toBe(parsedBy(() => JSON.parse(text)));
    }),
    { numRuns: 2_000 },
  );
});

test('no depth exhausts the stack', () => {
  const text = '['.repeat(100_000) + ']'.repeat(100_000);
  const parsed = counted(parseInSteps(text));
  expect(parsed.value).toHaveLength(1);
  expect(() => finish(parseInSteps(text.slice(0, -1)))).toThrow(SyntaxError);
});

test.each([
  '[1,2,]',
  '[,1]',
  '[1,,2]',
  '[ , ]',
  '{"a":1,}',
  '{"a" 1}',
  '{a:1}',
  '{"a":[1}}',
  '[{"a":1]]',
  '[1 2]',
  '"abc',
  '[1,2]]',
  '[1,2] 3',
  '{"a":1',
  '[1,2',
  '["\\"]',
  '{"__proto__":{"a":[1,2]},"a":1,"a":[2,{"b":3}],"7":1}',
  ' [ ] ',
  ' { } ',
  '[[],{},[ ],[[[]]]]',
  '"\\\\"',
  ' "a text" ',
])('one character a step: %s', (text) => {
  expect(parsedBy(() => finish(parseInSteps(text, 1)))).toBe(parsedBy(() => JSON.parse(text)));
});
