import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileExpression } from './expression.ts';

const event = {
  user_id: 'u1',
  properties: {
    total: 42.5,
    tax: '2.5',
    n: 3,
    name: ' Anna ',
    nil: null,
    zero: 0,
    products: [{ price: 1.1, q: 2 }, { price: 2.2 }],
    'a-b': 9,
  },
};

function value(text: string): unknown {
  const compiled = compileExpression(text);
  return compiled.ok ? compiled.evaluate(event) : `fault: ${compiled.message}`;
}

describe('values', () => {
  test.each<[string, unknown]>([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 2 - 3', 5],
    ['7 % 4', 3],
    ['0.1 + 0.2', 0.3],
    ['1714564800123457 + 1', 1714564800123458],
    ['sum(9007199254740991)', 9007199254740991],
    ['round(1714564800123457, 2)', 1714564800123457],
    ['properties.total - properties.tax', 40],
    ['properties.total + properties.tax', 45],
    ['"a" + "b"', 'ab'],
    ['"1" + "2"', '12'],
    ['"n" + 1', 'n1'],
    ['properties.x + 1', undefined],
    ['1 / 0', undefined],
    ['"a" * 2', undefined],
    ['-properties.n', -3],
    ['--2', 2],
    ['!properties.zero', true],
    ['properties.n > 2 && properties.n < 4', true],
    ['properties.n >= 3 ? "many" : "few"', 'many'],
    ['properties.x ? 1 : properties.zero ? 2 : 3', 3],
    ['properties.nil ?? properties.x ?? "none"', 'none'],
    ['properties.zero || 5', 5],
    ['properties.n == "3"', true],
    ['properties.n !== 3', false],
    ['properties["a-b"]', 9],
    ['properties.products[0].price', 1.1],
    ['sum(properties.products[*].price)', 3.3],
    ['count(properties.products)', 2],
    ['min(3, 1, 2) + max(properties.products[*].price)', 3.2],
    ['round(2.345, 2)', 2.35],
    ['floor(2.9) + ceil(2.1) + abs(-1)', 6],
    ['lower("AB") + upper("c") + trim(properties.name)', 'abCAnna'],
    ['length("abc") + length(properties.products)', 5],
    ['concat("a", properties.x, 1)', 'a1'],
    ['join(properties.products[*].price, "-")', '1.1-2.2'],
    ['contains("abc", "b") && !contains(properties.products[*].q, 5)', true],
    ['starts_with("abc", "a") && ends_with("abc", "c")', true],
    ['substring("abcdef", 1, 3)', 'bc'],
    ['coalesce(properties.nil, properties.n)', 3],
    ['number("12.5") + 1', 13.5],
    ['string(12) + "3"', '123'],
    ['first(properties.products).price', 'fault: Position 27: ".price" means nothing here.'],
    ['first(properties.products[*].price) + last(properties.products[*].price)', 3.3],
    ['between(properties.n, 1, 3)', true],
    ['true && null', undefined],
    ['"it\\"s"', 'it"s'],
    ["'a\\nb'", 'a\nb'],
    ['toString', undefined],
    ['constructor.constructor', undefined],
  ])('%s', (text, expected) => {
    if (typeof expected === 'string' && expected.startsWith('fault:')) expect(value(text)).toMatch(/^fault/);
    else expect(value(text)).toEqual(expected);
  });
});

test.each([
  '',
  '1 +',
  '(1',
  '1 2',
  'a..b',
  'eval("1")',
  'round()',
  'round(1,2,3)',
  'a ? b',
  '#',
  '"open',
  'a = 1',
  `${'('.repeat(60)}1${')'.repeat(60)}`,
  '!'.repeat(100),
  'a'.repeat(3_000),
])('%s is refused', (text) => expect(compileExpression(text)).toMatchObject({ ok: false, message: expect.any(String) }));

test('no text makes it throw, no event either', () => {
  const piece = fc.constantFrom(
    '1',
    '"a"',
    'a',
    'a.b',
    'a[*].b',
    '+',
    '-',
    '*',
    '/',
    '%',
    '<',
    '==',
    '&&',
    '||',
    '??',
    '?',
    ':',
    '!',
    '(',
    ')',
    ',',
    'round(',
    'concat(',
    'min(',
    ' ',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 15 }), fc.jsonValue(), (pieces, root) => {
      const compiled = compileExpression(pieces.join(' '));
      if (compiled.ok) expect(compiled.evaluate({ a: root })).toEqual(compiled.evaluate({ a: root }));
    }),
    { numRuns: 500 },
  );
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void compileExpression(text)));
});
