import { expect, test } from 'vitest';
import { greeting } from './greeting.ts';

const settings = { roles: new Set(['admin', 'ingest'] as const), baseUrl: undefined, ingestUrl: undefined };
const addresses = { main: 'http://localhost:8080', ingest: undefined };
const owner = { created: false } as const;

test('names the addresses of the listeners', () => {
  expect(greeting(settings, addresses, owner)).toEqual([
    '',
    'Firsthand is ready.',
    '',
    '  Console and API    http://localhost:8080/',
    '  API documentation  http://localhost:8080/docs',
    '  Collection         http://localhost:8080/v1/t',
    '  Health             http://localhost:8080/readyz',
    '',
  ]);
  const apart = greeting(settings, { ...addresses, ingest: 'http://localhost:8081' }, owner);
  expect(apart).toContain('  Collection         http://localhost:8081/v1/t');
});

test('names the public addresses where they are set, and health where it listens', () => {
  const open = { ...settings, baseUrl: 'https://app.example', ingestUrl: 'https://in.example' };
  expect(greeting(open, addresses, owner).slice(3, -1)).toEqual([
    '  Console and API    https://app.example/',
    '  API documentation  https://app.example/docs',
    '  Collection         https://in.example/v1/t',
    '  Health             http://localhost:8080/readyz',
  ]);
  const shared = greeting({ ...open, ingestUrl: undefined }, addresses, owner);
  expect(shared, 'one listener has one public address').toContain('  Collection         https://app.example/v1/t');
});
