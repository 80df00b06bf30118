import { expect, test } from 'vitest';
import { ingestOrigin } from './public-origin.ts';

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
  expect(ingestOrigin({ ingestUrl: undefined, ingestPort: undefined, ...settings }, { protocol: 'http', host })).toBe(url);
});
