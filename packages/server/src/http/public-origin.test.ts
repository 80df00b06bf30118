import { expect, test } from 'vitest';
import { type Addresses, baseOrigin, ingestOrigin } from './public-origin.ts';

const UNSET: Addresses = { ingestUrl: undefined, ingestPort: undefined, baseUrl: undefined, mode: 'development', allowedHosts: undefined };

test.each([
  { name: 'as set', settings: { ingestUrl: 'https://in.example', ingestPort: 8081 }, host: 'a.example:8080', url: 'https://in.example' },
  { name: 'as reached', settings: {}, host: 'a.example:8080', url: 'http://a.example:8080' },
  {
    name: 'beside the management API',
    settings: { baseUrl: 'https://a.shop.example' },
    host: 'a.example:8080',
    url: 'https://a.shop.example',
  },
  { name: 'on a port of its own', settings: { ingestPort: 8081 }, host: 'a.example:8080', url: 'http://a.example:8081' },
  { name: 'on a port of its own, reached without one', settings: { ingestPort: 8081 }, host: 'a.example', url: 'http://a.example:8081' },
  { name: 'on the default port', settings: { ingestPort: 80 }, host: 'a.example:8080', url: 'http://a.example' },
  { name: 'by IPv6 address', settings: { ingestPort: 8081 }, host: '[::1]:8080', url: 'http://[::1]:8081' },
  { name: 'on a port nobody knows before the start', settings: { ingestPort: 0 }, host: 'a.example:8080', url: 'http://a.example:8080' },
  { name: 'with a Host header that is none', settings: { ingestPort: 8081 }, host: 'a b', url: 'http://a b' },
])('the address of collection $name', ({ settings, host, url }) => {
  expect(ingestOrigin({ ...UNSET, ...settings }, { protocol: 'http', host })).toBe(url);
});

const SET = { baseUrl: 'https://app.example', ingestUrl: 'https://in.example' };
test.each([
  { name: 'an unknown host', settings: {}, host: 'evil.example', refused: true },
  { name: 'a host that is no host', settings: {}, host: 'a b', refused: true },
  { name: 'a host that only looks like loopback', settings: {}, host: 'localhost.evil.example', refused: true },
  { name: 'a listed host', settings: { allowedHosts: ['app.example'] }, host: 'APP.example:8080', refused: false },
  { name: 'a host beside the listed ones', settings: { allowedHosts: ['app.example'] }, host: 'evil.example', refused: true },
  { name: 'loopback', settings: {}, host: '127.0.0.1:8080', refused: false },
  { name: 'any host, with both addresses set', settings: SET, host: 'evil.example', refused: false },
])('in production, links are built from $name: refused $refused', ({ settings, host, refused }) => {
  const all = { ...UNSET, mode: 'production' as const, ...settings };
  for (const origin of [ingestOrigin, baseOrigin]) {
    const build = () => origin(all, { protocol: 'https', host });
    if (refused) expect(build).toThrow(/BASE_URL and INGEST_URL, or list this host in ALLOWED_HOSTS/);
    else expect(build()).not.toContain('evil');
  }
});
