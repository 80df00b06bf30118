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
])('%s is a network: %s', (entry, is) => {
  expect(isNetwork(entry)).toBe(is);
});
