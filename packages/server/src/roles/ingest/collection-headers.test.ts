import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { collectionHeaders } from './collection-headers.ts';

const NAMES = ['Authorization', 'content-length', 'COOKIE', 'Origin', 'User-Agent', 'x-forwarded-for', 'X-Write-Key', 'Sec-GPC', 'Host'];
const OTHERS = ['Accept', 'Sec-Fetch-Site', 'Connection', 'expect', '__proto__', 'cokie', 'ORIGI', ''];

/** As Node's parser fills a request. */
function byNode(rawHeaders: string[]): Record<string, unknown> {
  const request = new IncomingMessage(new Socket());
  const internal = request as unknown as { _addHeaderLines(headers: string[], count: number): void };
  internal._addHeaderLines(rawHeaders, rawHeaders.length);
  return request.headers;
}

it('reads what Node reads, also of headers that come twice', () => {
  const header = fc.tuple(fc.constantFrom(...NAMES, ...OTHERS), fc.string({ maxLength: 5 }));
  fc.assert(
    fc.property(fc.array(header, { maxLength: 12 }), (pairs) => {
      const raw = pairs.flat();
      const expected = byNode(raw);
      const wanted = NAMES.map((name) => name.toLowerCase()).filter((name) => Object.hasOwn(expected, name));
      expect(collectionHeaders(raw)).toEqual(Object.fromEntries(wanted.map((name) => [name, expected[name]])));
    }),
  );
});

test('other headers are left out', () => {
  expect(collectionHeaders(['Accept', '*/*', 'Host', 'a.example', 'Sec-Fetch-Mode', 'cors'])).toEqual({ host: 'a.example' });
});
