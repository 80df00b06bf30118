import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressMatcher, isNetwork } from './address-matcher.ts';

const matches = addressMatcher(['192.0.2.0/24', '198.51.100.7', '2001:db8::/32', 'nonsense', '10.0.0.0/99']);

test.each([
  ['192.0.2.1', true],
  ['192.0.3.1', false],
  ['198.51.100.7', true],
  ['198.51.100.8', false],
  ['::ffff:192.0.2.9', true],
  ['2001:db8:1::1', true],
  ['2001:db9::1', false],
  ['10.0.0.1', false],
  ['', false],
  ['nonsense', false],
])('%s: %s', (address, matched) => {
  expect(matches(address)).toBe(matched);
});
test.each([
  ['192.0.2.0/24', true],
  ['::1', true],
  ['2001:db8::/129', false],
  ['192.0.2.0/33', false],
  ['192.0.2.0/24/1', false],
  ['shop.example', false],
  ['fe80::1%eth0', false],
  [' 192.0.2.1', false],
  ['192.0.2.0/', false],
  ['192.0.2.0/-1', false],
  ['::ffff:192.0.2.0/120', true],
])('%s is a network: %s', (entry, is) => {
  expect(isNetwork(entry)).toBe(is);
});

test('every address and network that is accepted matches its own address', () => {
  const entry = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.tuple(fc.ipV4(), fc.nat(40)).map(([address, length]) => `${address}/${length}`),
    fc.tuple(fc.ipV6(), fc.nat(140)).map(([address, length]) => `${address}/${length}`),
    fc.string(),
  );
  fc.assert(
    fc.property(entry, (text) => {
      expect(addressMatcher([text])(text.split('/')[0] ?? '')).toBe(isNetwork(text));
    }),
  );
});
