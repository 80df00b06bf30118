import type { JsonObject } from '@firsthand/core/json.ts';
import { vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, productViewed, remembered } from '../shared/sample-events.ts';
import customHttp from './vendor.ts';

const order = orderCompleted();

export default vendorCases(
  customHttp,
  [
    {
      name: 'app, screen, group, session, click id, consent: all of it arrives',
      event: remembered(),
      requests: [{ url: 'https://api.example.com/v1/events', body: remembered() }],
    },
    { name: 'the canonical event', event: order, requests: [{ method: 'POST', url: 'https://api.example.com/v1/events', body: order }] },
    {
      name: 'an authored request: parameters, references to the event, header authentication, a list under a key',
      config: {
        parameters: { tenant: 'acme', api_key: 'k-123456789012' },
        request: {
          method: 'PUT',
          url: 'https://crm.example.com/{{parameters.tenant}}/people/{{event.user_id}}',
          query: { source: 'web', empty: '{{parameters.none}}' },
          headers: { 'X-Event': '{{event.event}}' },
          auth: { kind: 'header', name: 'Api-Key', value: '{{parameters.api_key}}' },
          body: { kind: 'json_list', under: 'records', common: { tenant: '{{parameters.tenant}}' } },
          batch: { max_items: 50 },
        },
        defaults: { action: 'map', mappings: [{ source: 'properties.order_id', target: 'id' }] },
      },
      event: { ...order, user_id: 'ü/1' },
      requests: [
        {
          method: 'PUT',
          url: 'https://crm.example.com/acme/people/%C3%BC%2F1?source=web',
          headers: { 'Api-Key': 'k-123456789012', 'X-Event': 'Order Completed' },
          body: { tenant: 'acme', records: [{ id: 'o-1' }] },
        },
      ],
    },
    {
      name: 'endpoints by event: a form here',
      config: {
        requests: [
          {
            when: { field: 'key', op: 'eq', value: '@page' },
            url: 'https://api.example.com/pages',
            body: { kind: 'query' },
            method: 'GET',
          },
          { url: 'https://api.example.com/orders', body: { kind: 'form' }, auth: { kind: 'query', name: 'token', value: 'a b' } },
        ],
        defaults: {
          action: 'map',
          mappings: [
            { source: 'event_id', target: 'id' },
            { source: 'properties.products', target: 'items' },
          ],
        },
      },
      event: productViewed({ properties: { products: [1] } }),
      requests: [
        {
          url: 'https://api.example.com/orders?token=a%20b',
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          body: 'id=evt-1&items=%5B1%5D',
        },
      ],
    },
    {
      name: 'endpoints by event: a query there',
      config: {
        requests: [
          {
            when: { field: 'key', op: 'eq', value: '@page' },
            url: 'https://api.example.com/pages',
            body: { kind: 'query' },
            method: 'GET',
          },
          { url: 'https://api.example.com/orders', body: { kind: 'form' } },
        ],
        defaults: { action: 'map', mappings: [{ source: 'event_id', target: 'id' }] },
      },
      event: pageViewed(),
      requests: [{ method: 'GET', url: 'https://api.example.com/pages?id=evt-2', body: undefined }],
    },
    {
      name: 'newline-delimited JSON',
      config: { request: { body: { kind: 'ndjson' }, batch: { max_items: 10 } } },
      event: order,
      requests: [{ headers: { 'Content-Type': 'application/x-ndjson' }, body: `${JSON.stringify(order)}\n` }],
    },
    {
      name: 'no request fits',
      config: { requests: [{ when: { field: 'key', op: 'eq', value: 'Other' }, url: 'https://api.example.com/x' }] },
      event: order,
      dropped: 'mapping_filter',
    },
  ],
  [
    {
      name: 'rules of the author: an error inside 200',
      config: {
        request: {
          answers: [{ status: [200], when: { field: 'body.ok', op: 'eq', value: false }, verdict: 'refused', reason: 'body.why' }],
        },
      },
      events: [order],
      reply: { status: 200, body: { ok: false, why: 'bad id' } },
      verdict: { kind: 'refused', reason: 'http_200: bad id' },
    },
    {
      name: 'rules of the author: one result per item',
      config: {
        request: {
          batch: { max_items: 10 },
          body: { kind: 'json_list', under: 'd' },
          answers: [
            {
              verdict: 'partial',
              partial: {
                results: 'body.results',
                accepted: { field: 'status', op: 'eq', value: 'ok' },
                reason: 'error',
                failed: 'unavailable',
                others: 'delivered',
              },
            },
          ],
        },
      },
      events: [order, order],
      reply: { status: 207, body: { results: [{ status: 'ok' }, { status: 'busy', error: 'later' }] } },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'unavailable', reason: 'http_207: later' }] },
    },
    {
      name: 'throttled',
      events: [orderCompleted()],
      reply: { status: 429, headers: { 'retry-after': '7' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 7_000 },
    },
  ],
);

export const REFUSED_CONFIGS: [config: JsonObject, field: string][] = [
  [{ url: 'http://api.example.com/' }, 'url'],
  [{ url: 'https://10.0.0.1/' }, 'url'],
  [{ request: { url: 'https://localhost/' } }, 'request.url'],
  [{ requests: [{ url: 'https://{{event.user_id}}.example/' }] }, 'requests[0].url'],
  [{ request: { answers: [{ verdict: 'refused', when: { field: 'a', op: 'like' } }] } }, 'request.answers[0].when.op'],
  [
    {
      request: {
        auth: { kind: 'oauth2_refresh_token', token_url: 'http://id.example/', client_id: 'c', client_secret: 's', refresh_token: 'r' },
      },
    },
    'request.auth.token_url',
  ],
  [{ request: { auth: { kind: 'hmac', header: 'Host', secret: 's' } } }, 'request.auth.header'],
  [{ batch: {} }, 'batch'],
];
