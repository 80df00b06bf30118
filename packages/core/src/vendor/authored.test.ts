import { expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { readAuthored } from './authored.ts';

const EXPECTED =
  'use parameters, event, payload or lane with a name, item.id, request.id, attempt or timestamp, body.sha256, date.year to hour';
const faults = (config: JsonObject) =>
  readAuthored(config, { url: 'https://a.example/', method: 'POST' }).invalid.map(({ field, message }) => `${field}: ${message}`);

test.each<[JsonObject, string[]]>([
  [
    { request: { auth: { kind: 'magic' } } },
    [
      'request.auth.kind: must be one of none, bearer, basic, header, query, hmac, standard_webhooks, aws_sigv4, oauth1, jwt, azure_shared_key, azure_sas, azure_service_bus_sas, oauth2_client_credentials, oauth2_refresh_token, google_service_account, oauth2_jwt_bearer, mutual_tls',
    ],
  ],
  [{ request: { auth: { kind: 'bearer' } } }, ['request.auth.token: is required']],
  [{ request: { auth: { kind: 'bearer', token: 't', tokn: 't' } } }, ['request.auth.tokn: is unknown']],
  [
    { request: { body: { kind: 'yaml' } } },
    ['request.body.kind: must be one of json_list, ndjson, csv, json, form, form_list, xml, multipart, query, none'],
  ],
  [{ request: { method: 'TRACE' } }, ['request.method: must be one of POST, PUT, PATCH, GET, DELETE']],
  [{ request: { urll: 'x' } }, ['request.urll: is unknown']],
  [{ request: { url: '' } }, ['request.url: must not be empty']],
  [{ request: { headers: { Host: 'x' } } }, ['request.headers.Host: the header Host may not be set']],
  [{ request: { batch: { max_items: 0 } } }, ['request.batch.max_items: must lie between 1 and 10000']],
  [{ request: { body: { kind: 'form' }, batch: { max_items: 5 } } }, ['request.batch: a form body takes one event per request']],
  [
    { request: { answers: [{ verdict: 'maybe' }] } },
    ['request.answers[0].verdict: must be one of delivered, refused, unavailable, refresh_token, partial'],
  ],
  [{ request: { body: { kind: 'json_list', under: 'a', common: 'x' } } }, ['request.body.common: must be an object']],
  [
    { request: { body: { kind: 'json_list', common: { a: 1 } } } },
    ['request.body.under: is required: without it the body is a list, and common has no place'],
  ],
  [{ request: { answers: [{ verdict: 'partial' }] } }, ['request.answers[0].partial: is required for the verdict partial']],
  [
    { request: { answers: [{ verdict: 'partial', partial: { errors: 'body.e', failed: 'refused', others: 'delivered' } }] } },
    ['request.answers[0].partial: needs errors and index or key, results and accepted, indexes, or keys'],
  ],
  [
    { request: { answers: [{ verdict: 'refused', partial: { indexes: ['body.i'], failed: 'refused', others: 'delivered' } }] } },
    ['request.answers[0].partial: belongs to the verdict partial'],
  ],
  [
    { request: { url: 'https://a.example/{{parameters.tenant}}/{{parameters.none}}' }, parameters: { tenant: 't' } },
    ['request.url: {{parameters.none}} refers to a parameter that has no value'],
  ],
  [{ requests: [{ url: 'https://a.example/{{event}}' }] }, [`requests[0].url: {{event}} is not a known reference: ${EXPECTED}`]],
  [{ request: { headers: { 'X-A': '{{evnt.name}}' } } }, [`request.headers.X-A: {{evnt.name}} is not a known reference: ${EXPECTED}`]],
  [{ request: { query: { a: '{{request.ip}}' } } }, [`request.query.a: {{request.ip}} is not a known reference: ${EXPECTED}`]],
  [{ request: { query: { a: '{{event.a b}}' } } }, [`request.query.a: {{event.a b}} is not a known reference: ${EXPECTED}`]],
  [
    {
      request: {
        url: 'https://a.example/{{ pipeline_param.X }}/{{ event.user_id }}/{{payload.path | path}}/{{date.year}}',
        headers: { 'X-A': '{{parameters.none}}{{request.id}}' },
        query: { a: '{{body.sha256}}', b: '{{lane.a}}' },
        body: { kind: 'json_list', under: 'a', common: { text: 'Dear {{name}}' } },
      },
    },
    [],
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
