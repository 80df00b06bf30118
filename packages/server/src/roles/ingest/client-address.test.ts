import { expect, test } from 'vitest';
import { createProxies } from './client-address.ts';

const request = (remoteAddress: string, headers: Record<string, string> = {}) => ({ req: { socket: { remoteAddress } }, headers });

test.each([
  ['no proxy is trusted', undefined, '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['one proxy', 1, '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['one proxy, a forged head', 1, '10.0.0.1', '6.6.6.6, 203.0.113.9', '203.0.113.9'],
  ['two proxies', 2, '10.0.0.1', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['two proxies, a forged head', 2, '10.0.0.1', '6.6.6.6, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['a trusted network', ['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['not from the trusted network', ['10.0.0.0/8'], '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['all hops trusted', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['rubbish in the header', ['10.0.0.0/8'], '10.0.0.1', 'rubbish', '10.0.0.1'],
  ['rubbish behind one proxy', 1, '10.0.0.1', 'rubbish', '10.0.0.1'],
  ['a port', 1, '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
  ['v6 in brackets', 1, '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['v4 in v6', undefined, '::ffff:192.0.2.1', '', '192.0.2.1'],
])('%s', (_name, trust, remote, forwarded, address) => {
  const headers: Record<string, string> = forwarded === '' ? {} : { 'x-forwarded-for': forwarded };
  expect(createProxies(trust, undefined).address(request(remote, headers))).toBe(address);
});

test.each([
  [undefined, undefined, { 'x-forwarded-proto': 'https' }, false],
  [1, undefined, { 'x-forwarded-proto': 'https' }, true],
  [1, undefined, { 'x-forwarded-proto': 'http' }, false],
  [undefined, 'https://in.example', {}, true],
])('https behind %s with %s: %o', (trust, ingestUrl, headers, secure) => {
  expect(createProxies(trust, ingestUrl).secure(request('10.0.0.1', headers as Record<string, string>))).toBe(secure);
});
