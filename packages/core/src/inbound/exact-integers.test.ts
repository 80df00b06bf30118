import { expect, test } from 'vitest';
import { withExactIntegers } from './exact-integers.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  ['{"id":820982911946154508}', { id: '820982911946154508' }],
  ['[-9007199254740993,{"a":[115310627314723954]}]', ['-9007199254740993', { a: ['115310627314723954'] }]],
  ['{"n":9007199254740991,"m":5}', { n: 9_007_199_254_740_991, m: 5 }],
  ['{"n":1234567890123456.5,"e":1e300,"t":"820982911946154508"}', { n: 1234567890123456.5, e: 1e300, t: '820982911946154508' }],
  ['{"ä":820982911946154508,"b":"ü","c":[ 9007199254740993 ]}', { ä: '820982911946154508', b: 'ü', c: ['9007199254740993'] }],
])('%s', (text, value) => {
  expect(withExactIntegers(bytes(text))).toEqual({ ok: true, value });
});
test('`__proto__` stays data', () => {
  const text = '{"__proto__":{"id":820982911946154508}}';
  const { value } = withExactIntegers(bytes(text)) as { value: object };
  expect(JSON.stringify(value)).toBe('{"__proto__":{"id":"820982911946154508"}}');
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test.each(['{"a":1e400}', '[0.1234567890123456789]', '{"a":{"b":-1e-400}}'])('%s is rejected', (text) => {
  expect(withExactIntegers(bytes(text))).toEqual({ ok: false });
});
