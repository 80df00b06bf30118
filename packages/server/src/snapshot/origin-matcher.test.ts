import { expect, test } from 'vitest';
import { originMatcher } from './origin-matcher.ts';

const list = ['shop.example', '*.brand.example', 'ported.example:8443', 'Bücher.example', 'https://full.example/', '192.0.2.7'];
const allows = originMatcher(list, false);

test.each([
  ['https://shop.example', true],
  ['http://shop.example', true],
  ['https://shop.example:8080', true],
  ['https://a.brand.example', true],
  ['https://a.b.brand.example', true],
  ['https://ported.example:8443', true],
  ['https://xn--bcher-kva.example', true],
  ['https://full.example', true],
  ['http://192.0.2.7', true],
  ['https://brand.example', false],
  ['https://ported.example', false],
  ['https://ported.example:443', false],
  // Hostile ones.
  ['null', false],
  ['', false],
  ['https://evilshop.example', false],
  ['https://shop.example.evil.test', false],
  ['https://evil.test/shop.example', false],
  ['https://shop.example/', false],
  ['https://shop.example@evil.test', false],
  ['https://evil.test@shop.example', false],
  ['https://user:pw@shop.example', false],
  ['https://shop.example.', false],
  ['https://.brand.example', false],
  ['https://a..brand.example', false],
  ['https://evilbrand.example', false],
  ['https://shop.example%00.evil.test', false],
  ['https://shop.example\\.evil.test', false],
  ['https://shop.example#.evil.test', false],
  ['https://shop.example?.evil.test', false],
  ['https://ѕhop.example', false],
  ['https://bücher.example', false],
  ['https://SHOP.EXAMPLE', false],
  ['shop.example', false],
  ['//shop.example', false],
  ['ftp://shop.example', false],
  ['chrome-extension://shop.example', false],
  ['javascript://shop.example', false],
  [' https://shop.example', false],
  ['https://shop.example https://evil.test', false],
  ['https://*.brand.example', false],
  ['http://localhost', false],
  ['http://localhost:3000', false],
])('%s: %s', (origin, allowed) => {
  expect(allows(origin)).toBe(allowed);
  expect(allows(origin), 'remembered').toBe(allowed);
});

test('an empty list allows every origin', () => {
  const every = originMatcher([], false);
  expect(every('https://anything.test')).toBe(true);
  expect(every('null')).toBe(true);
});

test.each([
  'http://localhost',
  'http://localhost:3000',
  'http://app.localhost:3000',
  'http://127.0.0.1:5173',
  'http://[::1]:8080',
])('development allows %s beside the list', (origin) => {
  expect(originMatcher(['shop.example'], true)(origin)).toBe(true);
  expect(originMatcher(['shop.example'], true)('http://localhost.evil.test')).toBe(false);
  expect(originMatcher(['shop.example'], true)('null')).toBe(false);
});
test('an entry that is no host allows nothing', () => {
  expect(originMatcher(['*', 'https://', 'a b'], false)('https://shop.example')).toBe(false);
});
