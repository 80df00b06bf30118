import { expect, test } from 'vitest';
import { isLocalName, isPrivateAddress } from './address.ts';
import { urlFault } from './url-rules.ts';

test.each([
  '127.0.0.1',
  '127.255.255.255',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '224.0.0.1',
  '255.255.255.255',
  '198.18.0.1',
  '::1',
  '::',
  '[::1]',
  'fe80::1',
  'fe80::1%eth0',
  'fc00::1',
  'fdff::',
  'ff02::1',
  '::ffff:10.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001:0:1::',
  '2001:db8::1',
  '::ffff:0:127.0.0.1',
  '::127.0.0.1',
  'fec0::1',
])('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each([
  '8.8.8.8',
  '172.15.0.1',
  '172.32.0.1',
  '100.128.0.1',
  '192.167.1.1',
  '169.253.1.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::',
  'example.com',
  '',
  ':::',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  'g::1',
  '1:2:3:4:5:6:7:8:9',
])('%s is not', (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});

test('names of this machine', () => {
  expect(['localhost', 'LOCALHOST.', 'a.localhost'].map(isLocalName)).toEqual([true, true, true]);
  expect(['localhost.example.com', 'notlocalhost'].map(isLocalName)).toEqual([false, false]);
});

const production = { mode: 'production', allow_private: false } as const;
const development = { mode: 'development', allow_private: true } as const;

test.each([
  ['https://api.example.com/x', undefined],
  ['https://8.8.8.8/x', undefined],
  ['http://api.example.com/x', 'must use https in production'],
  ['https://localhost/x', 'must not be a local or private address in production'],
  ['https://127.0.0.1/x', 'must not be a local or private address in production'],
  ['https://2130706433/x', 'must not be a local or private address in production'],
  ['https://0x7f.1/x', 'must not be a local or private address in production'],
  ['https://[::ffff:10.0.0.1]/x', 'must not be a local or private address in production'],
  ['ftp://api.example.com/x', 'must be an absolute http or https URL'],
  ['//api.example.com/x', 'must be an absolute http or https URL'],
  ['https://user:pass@api.example.com/', 'must not carry a user name or password'],
  ['https://api.example.com/a b', 'must be an absolute http or https URL'],
  ['https:\\\\api.example.com', 'must be an absolute http or https URL'],
])('%s in production: %s', (url, fault) => {
  expect(urlFault(url, production)).toBe(fault);
});

test('development and an explicit permission admit private addresses; https stays', () => {
  expect(urlFault('http://127.0.0.1:9000/x', development)).toBeUndefined();
  expect(urlFault('https://10.0.0.1/', { mode: 'production', allow_private: true })).toBeUndefined();
  expect(urlFault('http://10.0.0.1/', { mode: 'production', allow_private: true })).toBe('must use https in production');
});
