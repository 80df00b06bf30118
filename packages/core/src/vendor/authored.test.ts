import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { readAuthored } from './authored.ts';

const faults = (config: JsonObject) =>
  readAuthored(config, { url: 'https://a.example/', method: 'POST' }).invalid.map(({ field, message }) => `${field}: ${message}`);

test.each<[JsonObject, string[]]>([
  [
    { request: { auth: { kind: 'magic' } } },
    [
      'request.auth.kind: must be one of none, bearer, basic, header, query, hmac, aws_sigv4, oauth2_client_credentials, oauth2_refresh_token, google_service_account',
    ],
  ],
  [{ request: { auth: { kind: 'bearer' } } }, ['request.auth.token: is required']],
  [{ request: { auth: { kind: 'bearer', token: 't', tokn: 't' } } }, ['request.auth.tokn: is unknown']],
  [{ request: { body: { kind: 'xml' } } }, ['request.body.kind: must be one of json, json_list, ndjson, form, query, none']],
  [{ request: { method: 'TRACE' } }, ['request.method: must be one of POST, PUT, PATCH, GET, DELETE']],
  [{ request: { urll: 'x' } }, ['request.urll: is unknown']],
  [{ request: { url: '' } }, ['request.url: must not be empty']],
  [{ request: { headers: { Host: 'x' } } }, ['request.headers.Host: the header Host may not be set']],
  [{ request: { batch: { max_items: 0 } } }, ['request.batch.max_items: must lie between 1 and 10000']],
  [{ request: { body: { kind: 'form' }, batch: { max_items: 5 } } }, ['request.batch: a form body takes one event a request']],
  [
    { request: { answers: [{ verdict: 'maybe' }] } },
    ['request.answers[0].verdict: must be one of delivered, refused, unavailable, refresh_token, partial'],
  ],
  [{ requests: [{}, { auth: 'none' }] }, ['requests[1].auth: must be an object']],
  [{ requests: {} }, ['requests: must be a list']],
  [{ request: [] }, ['request: must be an object']],
  [{ request: { query: { a: 5 } } }, ['request.query.a: must be a string']],
])('%j', (config, expected) => {
  expect(faults(config)).toEqual(expected);
});

test('requests take from request, request from the fields', () => {
  const { requests } = readAuthored(
    { request: { method: 'PUT', auth: { kind: 'bearer', token: 't' } }, requests: [{ url: 'https://b.example/' }, { method: 'GET' }] },
    { url: 'https://a.example/', method: 'POST' },
  );
  expect(requests.map(({ definition: { method, url, auth, body }, where }) => [where, method, url, auth?.kind, body.kind])).toEqual([
    ['requests[0]', 'PUT', 'https://b.example/', 'bearer', 'json'],
    ['requests[1]', 'GET', 'https://a.example/', 'bearer', 'none'],
  ]);
});

test('a request without a URL makes the config incomplete, not wrong', () => {
  expect(readAuthored({}, {}).missing).toEqual([{ field: 'url', message: 'is required' }]);
  expect(readAuthored({ requests: [{ name: 'x' }] }, {}).missing).toEqual([{ field: 'requests[0].url', message: 'is required' }]);
});

test('numbers may come out of a pipeline parameter as text', () => {
  const { requests } = readAuthored({ request: { batch: { max_items: '50' } } }, { url: 'https://a.example/' });
  expect(requests[0]?.definition.batch?.max_items).toBe(50);
});
