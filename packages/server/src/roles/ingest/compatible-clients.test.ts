/** The paths and leniencies of Segment-compatible clients, request by request. `e2e/sdks` runs the real libraries. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IngestDeps } from './deps.ts';
import { aPipeline, aSnapshot, type Harness, startIngest } from './testing/harness.ts';

const ORIGIN = 'https://shop.example';
let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(
    aSnapshot([
      aPipeline(),
      aPipeline({ id: 'pl_shop', pipeline_key: 'pk_shop', domain_allowlist: ['shop.example'] }),
      aPipeline({ id: 'pl_server', pipeline_key: 'pk_server', type: 'server' }),
      aPipeline({ id: 'pl_off', pipeline_key: 'pk_off', enabled: false }),
    ]),
    { settings: { trustProxy: 1 } },
  );
});
afterAll(() => harness.close());

let serial = 0;
async function send(path: string, body: Record<string, unknown>, headers: Record<string, string> = { authorization: 'Bearer pk_web' }) {
  const messageId = `compatible-${serial++}`;
  const inBatch = path.endsWith('batch') || path === '/v1/import';
  const event = { messageId, ...body };
  const response = await fetch(harness.url + path, { method: 'POST', headers, body: JSON.stringify(inBatch ? { batch: [event] } : event) });
  const stored = (await harness.stored()).find(({ envelope }) => envelope.event_id === messageId);
  return { status: response.status, reply: (await response.json()) as { message?: string }, stored, headers: response.headers };
}

const COMPATIBLE = ['/v1/batch', '/v1/import', '/v1/events', '/beacon/v1/batch', '/api/s/event', '/api/s/s2s/batch', '/api/s/s2s/event'];
describe.each([...COMPATIBLE, '/v1/identify', '/api/s/identify', '/api/s/s2s/identify'])('identify on %s', (path) => {
  test('may be anonymous', async () => {
    const { status, stored } = await send(path, { type: 'identify', anonymousId: 'a-1', traits: { plan: 'pro' } });
    expect(status).toBe(200);
    expect(stored?.event).toMatchObject({ type: 'identify', anonymous_id: 'a-1', traits: { plan: 'pro' } });
    expect(stored?.event).not.toHaveProperty('user_id');
  });
  test('may have numeric ids', async () => {
    const { status, stored } = await send(path, { type: 'identify', userId: 42, anonymousId: 7 });
    expect(status).toBe(200);
    expect(stored?.event).toMatchObject({ user_id: '42', anonymous_id: '7' });
  });
  test('needs one id', async () => {
    const { status, stored } = await send(path, { type: 'identify', traits: {} });
    expect([status, stored]).toEqual([400, undefined]);
  });
});

test.each([
  ['the cookie', '/v1/identify', { type: 'identify' }, { cookie: '_df_id=known' }],
  ['the cookie', '/v1/batch', { batch: [{ type: 'identify', messageId: 'an-1' }] }, { cookie: '_df_id=known' }],
  ['the context of the batch', '/v1/batch', { batch: [{ type: 'identify', messageId: 'an-2' }], context: { anonymousId: 'known' } }, {}],
])('an identify may have its anonymous id in %s: %s', async (_name, path, body, headers) => {
  const messageId = 'batch' in body ? body.batch[0]!.messageId : 'an-0';
  const response = await fetch(harness.url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer pk_web', ...headers },
    body: JSON.stringify({ ...body, messageId }),
  });
  expect(response.status).toBe(200);
  const stored = (await harness.stored()).find(({ envelope }) => envelope.event_id === messageId);
  expect(stored?.event).toMatchObject({ type: 'identify', anonymous_id: 'known' });
});

test.each([
  '/v1/batch',
  '/v1/import',
  '/beacon/v1/batch',
  '/api/s/s2s/batch',
])('the integrations of a batch on %s hold for its events, whose own win', async (path) => {
  const own = { braze: true, All: true };
  const ids = ['none', 'own'].map((name) => `integrations-${name}-${path}`);
  const batch = [
    { type: 'track', event: 'X', messageId: ids[0] },
    { type: 'track', event: 'X', messageId: ids[1], integrations: own },
  ];
  const response = await fetch(harness.url + path, {
    method: 'POST',
    headers: { authorization: 'Bearer pk_web' },
    body: JSON.stringify({ integrations: { All: false, Webhook: { option: 1 }, braze: false, iterable: false }, batch }),
  });
  expect(response.status).toBe(200);
  const stored = await harness.stored();
  const [none, merged] = ids.map((id) => stored.find(({ envelope }) => envelope.event_id === id)?.event.integrations);
  expect(none).toEqual({ All: false, Webhook: true, braze: false, iterable: false });
  expect(merged).toEqual({ All: true, Webhook: true, braze: true, iterable: false });
});
test('the integrations and the context of a batch have at most 32 KB together', async () => {
  const event = { type: 'track', event: 'X' };
  const post = (length: number) =>
    fetch(`${harness.url}/v1/batch`, {
      method: 'POST',
      headers: { authorization: 'Bearer pk_web' },
      body: JSON.stringify({ batch: [event], context: { a: 'x'.repeat(20_000) }, integrations: { ['y'.repeat(length)]: false } }),
    });
  expect([(await post(12_000)).status, (await post(13_000)).status]).toEqual([200, 413]);
});

test('/v1/i requires a userId that is text', async () => {
  expect((await send('/v1/i', { type: 'identify', anonymousId: 'a' })).reply.message).toBe('userId is required.');
  expect((await send('/v1/i', { type: 'identify', userId: 7 })).reply.message).toBe('userId must be a string.');
  expect((await send('/v1/t', { type: 'track', event: 'X', anonymousId: 7 })).reply.message).toBe('anonymousId must be a string.');
});

test.each([
  ['/api/s/track', { event: 'X' }, { type: 'track', event: 'X' }],
  ['/api/s/page', { name: 'Home' }, { type: 'page', name: 'Home' }],
  ['/api/s/s2s/group', { groupId: 3 }, { type: 'group', group_id: '3' }],
  ['/v1/group', { groupId: 3 }, { type: 'group', group_id: '3' }],
  ['/v1/screen', { name: 'Cart' }, { type: 'page', original_type: 'screen', name: 'Cart' }],
  ['/v1/alias', { userId: 'u', previousId: 'a' }, { type: 'identify', original_type: 'alias', user_id: 'u' }],
  ['/api/s/screen', { type: 'screen', name: 'Cart' }, { type: 'page', original_type: 'screen' }],
  ['/v1/identify', { type: null, userId: 'u' }, { type: 'identify', user_id: 'u' }],
  ['/v1/page', { type: null, name: 'Home' }, { type: 'page', name: 'Home' }],
  ['/v1/group', { type: null, groupId: 'g' }, { type: 'group', group_id: 'g' }],
  ['/api/s/screen', { type: null, name: 'Cart' }, { type: 'page', original_type: 'screen' }],
])('%s implies the type', async (path, body, event) => {
  const { status, stored } = await send(path, body);
  expect(status).toBe(200);
  expect(stored?.event).toMatchObject(event);
});

describe.each(['/api/s/event', '/api/s/s2s/event', '/v1/events'])('%s takes the type from the body', (path) => {
  test.each([
    [
      { type: 'track', event: 'X' },
      { type: 'track', event: 'X' },
    ],
    [{ type: 'page' }, { type: 'page' }],
    [
      { type: 'group', groupId: 'g' },
      { type: 'group', group_id: 'g' },
    ],
    [
      { type: 'screen', name: 'Cart' },
      { type: 'page', original_type: 'screen' },
    ],
  ])('%j', async (body, event) => {
    const { status, stored } = await send(path, body, { 'x-write-key': 'pk_web:sk' });
    expect(status).toBe(200);
    expect(stored?.event).toMatchObject(event);
  });
  test.each([{ event: 'X' }, { type: 'event', event: 'X' }])('%j is refused', async (body) => {
    expect((await send(path, body)).status).toBe(400);
  });
});

test.each([
  ['the key', 'pk_web', 200],
  ['key and secret', 'pk_web:sk_anything', 200],
  ['an unknown key', 'pk_nobody:x', 401],
])('X-Write-Key names the pipeline: %s', async (_name, key, status) => {
  expect((await send('/api/s/track', { event: 'X' }, { 'x-write-key': key })).status).toBe(status);
});

test.each(['/api/s/track', '/api/s/event'])('%s takes address and user agent from the connection, a server path does not', async (path) => {
  const headers = { 'x-write-key': 'pk_web', 'x-forwarded-for': '203.0.113.9', 'user-agent': 'Browser/1' };
  const browser = await send(path, { type: 'track', event: 'X' }, headers);
  expect(browser.stored?.envelope).toMatchObject({ source: 'browser', ip: '203.0.113.9' });
  const server = (await send('/api/s/s2s/track', { event: 'X' }, headers)).stored?.envelope;
  expect(server).toMatchObject({ source: 'server' });
  expect(server).not.toHaveProperty('ip');
});

// The values of `privacy.ipPolicy` in @jitsu/js, and what Jitsu's server does: `types/protocols/analytics.d.ts` and `ingest/router.go` of
// jitsucom/jitsu. For `keep` the client sends no header.
test.each([
  [undefined, '203.0.113.9', '203.0.113.9'],
  ['keep', '203.0.113.9', '203.0.113.9'],
  ['stripLastOctet', '203.0.113.9', '203.0.113.0'],
  ['stripLastOctet', '2001:db8:1:2::3', '2001:db8:1::'],
  ['remove', '203.0.113.9', undefined],
  ['remove', '2001:db8:1:2::3', undefined],
])('X-IP-Policy %s: %s is used as %s, on every path', async (policy, address, used) => {
  const headers = { 'x-write-key': 'pk_web', 'x-forwarded-for': address, origin: ORIGIN, ...(policy && { 'x-ip-policy': policy }) };
  for (const path of ['/api/s/track', '/api/s/event', '/v1/t', '/v1/batch'])
    expect((await send(path, { type: 'track', event: 'X' }, headers)).stored?.envelope.ip).toBe(used);
});

test.each([
  '/v1/track',
  '/v1/events',
  '/v1/batch',
  '/v1/t',
])('Sec-GPC on %s counts without an Origin too, also for servers', async (path) => {
  for (const key of ['pk_web', 'pk_server']) {
    const headers = { authorization: `Bearer ${key}`, 'sec-gpc': '1' };
    const { stored } = await send(path, { type: 'track', event: 'X' }, headers);
    expect(stored?.envelope).toMatchObject({ gpc: true });
    const { stored: without } = await send(path, { type: 'track', event: 'X' }, { ...headers, 'sec-gpc': '0' });
    expect(without?.envelope).not.toHaveProperty('gpc');
  }
});

test('the beacon takes its key from the query', async () => {
  const response = await fetch(`${harness.url}/beacon/v1/batch?writeKey=pk_web`, {
    method: 'POST',
    headers: { origin: ORIGIN, 'content-type': 'text/plain' },
    body: JSON.stringify({ batch: [{ type: 'track', event: 'X', anonymousId: 'a', messageId: 'beacon-1' }] }),
  });
  expect(await response.json()).toMatchObject({ success: true, accepted: 1 });
});

test.each([
  ['RudderStack', 'authorization, content-type, anonymousid', 'Content-Type, Authorization, AnonymousId'],
  [
    'RudderStack that tries again',
    'rsa-recovered,rsa-retry-attempt,rsa-retry-reason,rsa-since-first-attempt,rsa-since-last-attempt',
    'Content-Type, Authorization, Rsa-Retry-Attempt, Rsa-Since-Last-Attempt, Rsa-Since-First-Attempt, Rsa-Retry-Reason, Rsa-Recovered',
  ],
  ['Jitsu', 'content-type,x-write-key', 'Content-Type, Authorization, X-Write-Key'],
  ['Jitsu with options', 'x-enable-debug,x-ip-policy', 'Content-Type, Authorization, X-Enable-Debug, X-IP-Policy'],
  ['Segment', 'content-type, x-retry-count', 'Content-Type, Authorization, X-Retry-Count'],
  ['all of them', 'SentAt, X-Requested-With', 'Content-Type, Authorization, SentAt, X-Requested-With'],
  ['nothing further', 'x-evil, content-type', 'Content-Type, Authorization'],
])('a preflight of %s', async (_name, asked, allowed) => {
  const response = await fetch(`${harness.url}/v1/batch`, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-headers')).toBe(allowed);
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
});

test('Segment’s settings name our own address', async () => {
  const response = await fetch(`${harness.url}/v1/projects/pk_web/settings`, { headers: { origin: ORIGIN } });
  expect(response.status).toBe(200);
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(await response.json()).toMatchObject({
    integrations: { 'Segment.io': { apiKey: 'pk_web', apiHost: `127.0.0.1:${harness.port}/v1`, protocol: 'http' } },
  });
});
test('behind a proxy they name its address', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'in.shop.example' };
  const response = await fetch(`${harness.url}/v1/projects/pk_web/settings`, { headers });
  expect(await response.json()).toMatchObject({ integrations: { 'Segment.io': { apiHost: 'in.shop.example/v1', protocol: 'https' } } });
});
test('in production they name no address that the client chose, and no cache keeps one that depends on the request', async () => {
  const settingsOf = async (settings: Partial<IngestDeps['settings']>, host: string) => {
    const one = await startIngest(aSnapshot([aPipeline()]), { settings: { trustProxy: 1, mode: 'production', ...settings } });
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https', 'x-forwarded-host': host };
    const response = await fetch(`${one.url}/v1/projects/pk_web/settings`, { headers });
    const body = (await response.json()) as { integrations?: { 'Segment.io': { apiHost: string } } };
    await one.close();
    return [response.status, body.integrations?.['Segment.io'].apiHost, response.headers.get('cache-control')];
  };
  expect(await settingsOf({}, 'evil.example')).toEqual([404, undefined, null]);
  expect(await settingsOf({ allowedHosts: ['in.shop.example'] }, 'in.shop.example')).toEqual([200, 'in.shop.example/v1', 'no-store']);
  expect(await settingsOf({ ingestUrl: 'https://in.shop.example' }, 'evil.example')).toEqual([
    200,
    'in.shop.example/v1',
    'public, max-age=60',
  ]);
  expect(await settingsOf({ mode: 'development' }, 'a.example')).toEqual([200, 'a.example/v1', 'no-store']);
});
test.each(['/sourceConfig', '/sourceConfig/'])('RudderStack’s source configuration at %s holds no destination', async (path) => {
  const headers = { origin: ORIGIN, authorization: `Basic ${btoa('pk_web:')}` };
  const response = await fetch(`${harness.url}${path}?p=npm&v=3&writeKey=pk_web`, { headers });
  expect(await response.json()).toMatchObject({
    source: { id: 'pl_web', enabled: true, destinations: [], updatedAt: aPipeline().updated_at },
  });
});

test.each([
  ['/v1/nothing', 'GET', 'pk_web', 404, 'not_found'],
  ['/v1/nothing', 'POST', 'pk_web', 404, 'not_found'],
  ['/api/s/nothing', 'POST', 'pk_web', 404, 'not_found'],
  ['/beacon/v1/nothing', 'POST', 'pk_web', 404, 'not_found'],
  ['/v1/projects/pk_web', 'GET', 'pk_web', 404, 'not_found'],
  ['/v1/projects/pk_nobody/settings', 'GET', 'pk_web', 401, 'invalid_pipeline_key'],
  ['/v1/projects/pk_off/settings', 'GET', 'pk_web', 401, 'pipeline_disabled'],
  ['/sourceConfig', 'GET', 'pk_nobody', 401, 'invalid_pipeline_key'],
  ['/sourceConfig', 'POST', 'pk_web', 405, 'method_not_allowed'],
  ['/api/s/track', 'POST', 'pk_nobody', 401, 'invalid_pipeline_key'],
  ['/api/s/track', 'GET', 'pk_web', 405, 'method_not_allowed'],
  ['/beacon/v1/batch', 'POST', 'pk_nobody', 401, 'invalid_pipeline_key'],
])('%s %s with %s: %d with CORS headers', async (path, method, key, status, error) => {
  const response = await fetch(harness.url + path, {
    method,
    headers: { origin: ORIGIN, authorization: `Bearer ${key}` },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(await response.json()).toMatchObject({ error });
});
test('an origin that is not allowed is told so before the SDK starts', async () => {
  const response = await fetch(`${harness.url}/v1/projects/pk_shop/settings`, { headers: { origin: 'https://other.example' } });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([403, 'https://other.example']);
});
test('paths of others are left alone', async () => {
  for (const path of ['/v1/admin/pipelines', '/v1/oauth/callback', '/docs', '/sourceConfigs', '/api/other']) {
    const response = await fetch(harness.url + path);
    expect(response.headers.get('access-control-allow-origin'), path).toBeNull();
  }
});

/** Their libraries are not for Node; this is what they put on the wire. */
test.each([
  ['Ruby', '/v1/import'],
  ['Java', '/v1/import/'],
])('Segment’s library for %s sends batches to %s, and their order is kept', async (language, path) => {
  const steps = [1, 2, 3].map((n) => ({ type: 'track', event: `${language} ${n}`, userId: 'u1', messageId: `${language}-${n}` }));
  const response = await fetch(`${harness.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('pk_web:')}` },
    body: JSON.stringify({ batch: steps, sentAt: new Date().toISOString() }),
  });
  expect(response.status).toBe(200);
  const stored = (await harness.stored()).map(({ event }) => event.event ?? '').filter((name) => name.startsWith(language));
  expect(stored).toEqual(steps.map(({ event }) => event));
});
