import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findInexactNumber, isExactNumber, MAX_LONG_NUMBERS, TOO_MANY_LONG_NUMBERS } from './exact-numbers.ts';
import { LONG_NUMBER, scanJson } from './scan-json.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('a number survives as a double', () => {
  test.each([
    ['0', true],
    ['-0', true],
    ['0.0', true],
    ['0e999', true],
    ['1', true],
    ['1.0', true],
    ['1.10', true],
    ['19.99', true],
    ['0.1', true],
    ['0.30000000000000004', true],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['-9007199254740993', false],
    ['9007199254740994', true],
    ['1000000000000000000000', true],
    ['100000000000000000000000', true],
    ['123456789012345678901234567890', false],
    ['1e21', true],
    ['1E+21', true],
    ['15e2', true],
    ['1e400', false],
    ['-1e400', false],
    ['1e-400', false],
    ['5e-324', true],
    ['1.7976931348623157e308', true],
    ['0.1234567890123456789', false],
    ['820982911946154508', false],
    [`0.${'0'.repeat(50_000)}1`, false],
    [`1${'0'.repeat(50_000)}`, false],
  ])('%s', (text, exact) => expect(isExactNumber(text)).toBe(exact));

  test('every double as JSON writes it', () => {
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => isExactNumber(JSON.stringify(value))));
  });
  test('every integer exactly as BigInt sees it', () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 70n), 2n ** 70n), (value) => isExactNumber(String(value)) === (BigInt(Number(value)) === value)),
    );
  });
});

describe('the path of the number', () => {
  test.each([
    ['{"properties":{"id":9007199254740993}}', 'properties.id'],
    ['{"properties":{"a":[1,{"b":2},[3,1e400]]}}', 'properties.a[2][1]'],
    ['{"a":1,"b":"9007199254740993","c\\"d":{"e":1e999}}', 'c"d.e'],
    ['[1e400]', '[0]'],
    ['1e400', ''],
    ['{"a":"x,y:{[","b":[{},{},-9007199254740993]}', 'b[2]'],
    ['{"a":1.5,"b":[1e3]}', undefined],
  ])('%s', (text, path) => expect(findInexactNumber(bytes(text))).toBe(path));
});

test('the quick scan misses no number that is inexact', () => {
  const number = fc.oneof(
    fc.bigInt(-(2n ** 80n), 2n ** 80n).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.tuple(fc.integer(), fc.integer({ min: -400, max: 400 })).map(([mantissa, exponent]) => `${mantissa}e${exponent}`),
    fc.tuple(fc.nat(), fc.bigInt(0n, 2n ** 70n)).map(([whole, fraction]) => `${whole}.${fraction}`),
  );
  fc.assert(
    fc.property(number, (text) => {
      const json = bytes(`{"a":[${text}]}`);
      if (!isExactNumber(text)) expect(scanJson(json, 64) & LONG_NUMBER).toBe(LONG_NUMBER);
    }),
  );
  expect(scanJson(bytes('{"id":"9007199254740993","total":19.99,"at":1700000000000}'), 64)).toBe(0);
});

test('the search agrees with the exact check, whatever the digits', () => {
  const zeros = (max: number) => fc.nat(max).map((n) => '0'.repeat(n));
  const digits = fc.bigInt(0n, 10n ** 20n).map(String);
  const exponent = fc.option(
    fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), fc.nat(400)).map(([e, n]) => `${e}${n}`),
    { nil: '' },
  );
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(digits, fc.constant('0')),
      zeros(120),
      fc.option(fc.tuple(zeros(150), digits, zeros(20))),
      exponent,
    )
    .map(([sign, whole, more, fraction, e]) => `${sign}${whole}${whole === '0' ? '' : more}${fraction ? `.${fraction.join('')}` : ''}${e}`);
  fc.assert(
    fc.property(number, (text) => {
      expect(findInexactNumber(bytes(`[${text}]`)) === undefined).toBe(isExactNumber(text));
    }),
    {
      numRuns: 2_000,
    },
  );
});

test('more long numbers than an event may have are reported as such', () => {
  const list = (count: number) => bytes(`[${'0.30000000000000004,'.repeat(count)}1]`);
  expect(findInexactNumber(list(MAX_LONG_NUMBERS))).toBe(undefined);
  expect(findInexactNumber(list(MAX_LONG_NUMBERS + 1))).toBe(TOO_MANY_LONG_NUMBERS);
});
