import { vendorCases } from '../shared/cases.ts';
import { grouped, orderCompleted, pageViewed, productViewed, remembered } from '../shared/sample-events.ts';
import webhook from './vendor.ts';

const order = orderCompleted();
const url = 'https://api.example.com/hooks/firsthand';

export default vendorCases(
  webhook,
  [
    {
      name: 'the canonical event, byte for byte',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: {
            'Content-Type': 'application/json',
            'webhook-id': 'evt-1',
            'webhook-timestamp': '1767323100',
            'X-Firsthand-Attempt': '1',
          },
          body: JSON.stringify(order),
        },
      ],
    },
    {
      name: 'app, screen, group, session, click id, consent: all of it arrives',
      event: remembered(),
      requests: [{ url, body: JSON.stringify(remembered()) }],
    },
    { name: 'group: as it is', event: grouped(), requests: [{ url, body: JSON.stringify(grouped()) }] },
    {
      name: 'PUT with custom headers and a bearer token',
      config: {
        method: 'PUT',
        headers: { 'X-Team': 'growth', 'content-type': 'application/vnd.acme+json' },
        authentication: 'bearer',
        auth_token: 'tok',
      },
      event: pageViewed(),
      requests: [
        {
          method: 'PUT',
          headers: { 'X-Team': 'growth', 'content-type': 'application/vnd.acme+json', Authorization: 'Bearer tok' },
          body: pageViewed(),
        },
      ],
    },
    {
      name: 'a user agent among the custom headers is sent instead of ours',
      config: { headers: { 'User-Agent': 'Shop/1' } },
      event: order,
      requests: [{ headers: { 'User-Agent': 'Shop/1' } }],
    },
    {
      name: 'basic authentication in UTF-8',
      config: { authentication: 'basic', auth_username: 'anna', auth_password: 'pässword' },
      event: order,
      requests: [{ headers: { Authorization: 'Basic YW5uYTpww6Rzc3dvcmQ=' } }],
    },
    {
      name: 'the signature is over the exact body',
      config: {
        authentication: 'hmac',
        hmac_secret: 'whsec',
        hmac_header: 'X-Signature',
        payload_format: 'custom',
        payload_template: '{"n":1}',
      },
      event: order,
      // printf '{"n":1}' | openssl dgst -sha256 -hmac whsec
      requests: [
        { headers: { 'X-Signature': 'sha256=e5fb2638861c15910b22d1aaa46a176efa9f238213cd0956f6937a0d3e6c3bf4' }, body: '{"n":1}' },
      ],
    },
    {
      name: 'Standard Webhooks: id, time and exact body are signed',
      config: {
        authentication: 'standard_webhooks',
        signing_secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
        payload_format: 'custom',
        payload_template: '{"n":1}',
      },
      event: order,
      // printf 'evt-1.1767323100.{"n":1}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:<the decoded secret in hex> -binary | base64
      requests: [
        {
          headers: {
            'webhook-id': 'evt-1',
            'webhook-timestamp': '1767323100',
            'webhook-signature': 'v1,/msVTNr4wMNSZDIYG1y+YthIy642UIJHVxt/R9aKoFs=',
          },
          body: '{"n":1}',
        },
      ],
    },
    {
      name: 'a template with values escaped, missing ones empty, and JSON written whole',
      config: {
        payload_format: 'custom',
        payload_template: '{"name":"{{event}}","who":"{{traits.nickname}}","page":"{{context.page.url}}","props":{{{json properties}}}}',
      },
      event: productViewed({ event: 'Say "hi"' }),
      requests: [
        {
          body: {
            name: 'Say "hi"',
            who: '',
            page: 'https://shop.example/checkout?x=1',
            props: { product_id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, currency: 'EUR' },
          },
        },
      ],
    },
    {
      name: 'a template that makes no JSON fails for good',
      config: { payload_format: 'custom', payload_template: '{"name": {{event}}' },
      event: order,
      failed: 'template_not_json',
    },
    {
      name: 'batching makes a list, of one too',
      config: { batch_enabled: true },
      event: order,
      requests: [{ body: [order] }],
    },
    {
      name: 'two events in one list',
      config: { batch_enabled: true },
      event: order,
      batched: [{ ...order, event_id: 'evt-7' }],
      requests: [{ body: [order, { ...order, event_id: 'evt-7' }] }],
    },
    {
      name: 'a mapping changes what is sent',
      config: { events: { 'Order Completed': { mappings: [{ source: 'properties.order_id', target: 'id' }] } } },
      event: order,
      requests: [{ body: { id: 'o-1' } }],
    },
    { name: 'defaults may drop', config: { defaults: { action: 'drop' } }, event: order, dropped: 'mapping_default' },
  ],
  [
    { name: '204', events: [order], reply: { status: 204 }, verdict: { kind: 'delivered' } },
    {
      name: '429 with Retry-After in seconds',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '7' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 7_000 },
    },
    { name: '503', events: [order], reply: { status: 503, body: 'no' }, verdict: { kind: 'unavailable', reason: 'http_503: no' } },
    { name: '408 is a refusal here', events: [order], reply: { status: 408 }, verdict: { kind: 'refused', reason: 'http_408' } },
    { name: 'a redirect is a refusal', events: [order], reply: { status: 302 }, verdict: { kind: 'refused', reason: 'http_302' } },
  ],
);
