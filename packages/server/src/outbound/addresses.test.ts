import { expect, test } from 'vitest';
import { isPublicAddress, literalAddress } from './addresses.ts';

test.each([
  ['8.8.8.8'],
  ['93.184.216.34'],
  ['172.15.255.255'],
  ['172.32.0.1'],
  ['100.63.255.255'],
  ['100.128.0.1'],
  ['2606:4700:4700::1111'],
  ['2a00:1450:4001:81b::200e'],
  ['::ffff:8.8.8.8'],
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['loopback', '::1'],
  ['this network', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.0.0.1'],
  ['private', '172.16.0.1'],
  ['private', '172.31.255.255'],
  ['private', '192.168.1.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['link-local, cloud metadata', '169.254.169.254'],
  ['link-local', 'fe80::1'],
  ['link-local with a zone', 'fe80::1%eth0'],
  ['unique local', 'fd00::1'],
  ['unique local', 'fc00::1'],
  ['site-local', 'fec0::1'],
  ['multicast', '224.0.0.1'],
  ['multicast', 'ff02::1'],
  ['broadcast', '255.255.255.255'],
  ['reserved', '240.0.0.1'],
  ['benchmarking', '198.18.0.1'],
  ['documentation', '192.0.2.1'],
  ['documentation', '198.51.100.7'],
  ['documentation', '203.0.113.7'],
  ['documentation', '2001:db8::1'],
  ['protocol assignments', '192.0.0.8'],
  ['6to4 relay', '192.88.99.1'],
  ['unspecified', '::'],
  ['v4-mapped loopback', '::ffff:127.0.0.1'],
  ['v4-mapped private, in hex', '::ffff:a00:1'],
  ['v4-compatible', '::127.0.0.1'],
  ['v4-compatible public', '::8.8.8.8'],
  ['v4-translated', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64 local', '64:ff9b:1::a00:1'],
  ['6to4 of loopback', '2002:7f00:1::'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['discard', '100::1'],
  ['ORCHID', '2001:20::1'],
  ['no address at all', 'localhost'],
  ['nothing', ''],
])('%s: %s is refused', (_kind, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ['http://0x7f.1/', '127.0.0.1'],
  ['http://2130706433/', '127.0.0.1'],
  ['http://017700000001/', '127.0.0.1'],
  ['http://[::1]:80/', '::1'],
  ['http://example.com/', undefined],
])('the host of %s is the address %s', (url, address) => {
  expect(literalAddress(new URL(url).hostname)).toBe(address);
});
