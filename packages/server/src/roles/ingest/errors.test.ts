import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { RejectionCode } from '@firsthand/core/outcome/outcome.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aPipeline, aSnapshot, type Harness, SECRET, startIngest } from './testing/harness.ts';

const ORIGIN = 'https://shop.example';
/** It stands still: what is 301 s old or a burst of one second must not depend on how soon a test gets its turn. */
const NOW = Date.now();
const clock = { now: () => NOW, monotonic: () => 0 };
let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(
    aSnapshot([
      aPipeline(),
      aPipeline({ id: 'pl_off', pipeline_key: 'pk_off', enabled: false }),
      aPipeline({ id: 'pl_shop', pipeline_key: 'pk_shop', domain_allowlist: ['shop.example'] }),
      aPipeline({ id: 'pl_ip', pipeline_key: 'pk_ip', type: 'server', config: { ip_allowlist: ['192.0.2.0/24'] } }),
      aPipeline({ id: 'pl_home', pipeline_key: 'pk_home', type: 'server', config: { ip_allowlist: ['127.0.0.0/8'] } }),
      aPipeline({ id: 'pl_webip', pipeline_key: 'pk_webip', config: { ip_allowlist: ['192.0.2.0/24'], require_signature: true } }),
      aPipeline({ id: 'pl_signed', pipeline_key: 'pk_signed', type: 'server', config: { require_signature: true } }),
      aPipeline({ id: 'pl_server', pipeline_key: 'pk_server', type: 'server' }),
      aPipeline({ id: 'pl_token', pipeline_key: 'pk_token', challenge_token_required: true }),
      aPipeline({ id: 'pl_slow', pipeline_key: 'pk_slow', rate_limit_rps: 2 }),
      aPipeline({ id: 'pl_debt', pipeline_key: 'pk_debt', rate_limit_rps: 5 }),
    ]),
    { clock },
  );
});
afterAll(() => harness.close());

interface Call {
  path?: string;
  method?: string;
  key?: string | null;
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string | Uint8Array<ArrayBuffer>;
}
function call({ path = '/v1/t', method = 'POST', key = 'pk_web', headers = {}, body, raw }: Call): Promise<Response> {
  const sent = raw ?? JSON.stringify(body ?? { type: 'track', event: 'X' });
  return fetch(harness.url + path, {
    method,
    headers: { origin: ORIGIN, ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(method === 'GET' ? {} : { body: sent }),
  });
}
const track = { type: 'track', event: 'X' };
const sign = (body: string, timestamp: string, secret = SECRET) =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
const signed = (timestamp: string, secret?: string): Call => ({
  key: 'pk_signed',
  path: '/v1/events',
  raw: JSON.stringify(track),
  headers: { 'x-timestamp': timestamp, 'x-signature': sign(JSON.stringify(track), timestamp, secret) },
});

const REFUSALS: [name: string, call: Call, status: number, code: string][] = [
  ['malformed JSON', { raw: '{"type":' }, 400, 'invalid_json'],
  ['an empty body', { raw: '' }, 400, 'invalid_json'],
  ['a missing field', { body: { type: 'track' } }, 400, 'missing_field'],
  ['no type on a short path', { body: { event: 'X' } }, 400, 'missing_field'],
  ["another path's type", { body: { type: 'page', name: 'X' } }, 400, 'validation_failed'],
  ['a page without a name', { path: '/v1/p', body: { type: 'page' } }, 400, 'missing_field'],
  ['an identify without userId', { path: '/v1/i', body: { type: 'identify' } }, 400, 'missing_field'],
  ['a group without groupId', { path: '/v1/g', body: { type: 'group' } }, 400, 'missing_field'],
  ['an event without type on /v1/events', { path: '/v1/events', body: { event: 'X' } }, 400, 'missing_field'],
  ['an unknown type on /v1/events', { path: '/v1/events', body: { type: 'delete' } }, 400, 'validation_failed'],
  ['a wrong type on a long alias', { path: '/v1/track', body: { type: 'page', event: 'X' } }, 400, 'validation_failed'],
  ['65 levels', { raw: `{"type":"track","event":"X","properties":${'{"a":'.repeat(64)}1${'}'.repeat(64)}}` }, 400, 'validation_failed'],
  ['no key', { key: null }, 401, 'invalid_pipeline_key'],
  ['an unknown key', { key: 'pk_nobody' }, 401, 'invalid_pipeline_key'],
  ['an empty key', { key: '' }, 401, 'invalid_pipeline_key'],
  ['a scheme nobody knows', { key: null, headers: { authorization: 'Digest pk_web' } }, 401, 'invalid_pipeline_key'],
  ['a key named like a prototype', { key: '__proto__' }, 401, 'invalid_pipeline_key'],
  ['an unknown key in the body', { key: null, body: { ...track, writeKey: 'pk_nobody' } }, 401, 'invalid_pipeline_key'],
  ['a key in the body that is no text', { key: null, body: { ...track, writeKey: ['pk_web'] } }, 401, 'invalid_pipeline_key'],
  ['a disabled pipeline', { key: 'pk_off' }, 401, 'pipeline_disabled'],
  ['a foreign origin', { key: 'pk_shop', headers: { origin: 'https://evil.test' } }, 403, 'origin_not_allowed'],
  ['the null origin', { key: 'pk_shop', headers: { origin: 'null' } }, 403, 'origin_not_allowed'],
  ['a foreign address', { key: 'pk_ip' }, 403, 'ip_not_allowed'],
  ['a missing signature', { key: 'pk_signed' }, 401, 'invalid_signature'],
  ['a signature under another secret', signed(String(NOW), 'sk_other'), 401, 'invalid_signature'],
  ['a signature 301 s old', signed(String(NOW - 301_000)), 401, 'invalid_signature'],
  ['a signature from the future', signed(String(NOW + 301_000)), 401, 'invalid_signature'],
  [
    'a signature without a timestamp',
    { key: 'pk_server', headers: { 'x-signature': sign(JSON.stringify(track), '1') } },
    401,
    'invalid_signature',
  ],
  [
    'a wrong signature where none is needed',
    { key: 'pk_server', headers: { 'x-timestamp': String(NOW), 'x-signature': `sha256=${'0'.repeat(64)}` } },
    401,
    'invalid_signature',
  ],
  ['no challenge token', { key: 'pk_token' }, 401, 'invalid_challenge_token'],
  [
    "another pipeline's challenge token",
    { key: 'pk_token', headers: { 'x-challenge-token': 'token-of-pl_web' } },
    401,
    'invalid_challenge_token',
  ],
  [
    'a challenge token that is no text',
    { key: 'pk_token', body: { ...track, context: { challenge_token: 1 } } },
    401,
    'invalid_challenge_token',
  ],
  ['a body over the limit', { raw: JSON.stringify({ ...track, x: 'x'.repeat(1_048_576) }) }, 413, 'payload_too_large'],
  ['an event name of 1 MB', { body: { type: 'track', event: 'x'.repeat(1_048_576) } }, 413, 'payload_too_large'],
  ['an event name just under 1 MB', { body: { type: 'track', event: 'x'.repeat(1_000_000) } }, 400, 'validation_failed'],
  ['a packed body over the limit', { raw: gzipSync(JSON.stringify({ ...track, x: 'x'.repeat(1_048_576) })) }, 413, 'payload_too_large'],
  ['broken gzip', { raw: new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5]) }, 400, 'invalid_json'],
  ['a batch without a list', { path: '/v1/batch', body: {} }, 400, 'missing_field'],
  ['a batch that is no list', { path: '/v1/batch', body: { batch: {} } }, 400, 'validation_failed'],
  ['a batch whose context is no object', { path: '/v1/batch', body: { batch: [track], context: 'web' } }, 400, 'validation_failed'],
  ['an empty batch', { path: '/v1/b', body: { batch: [] } }, 400, 'validation_failed'],
  ['a batch with no good event', { path: '/v1/batch', body: { batch: [{ type: 'track' }, 7] } }, 400, 'missing_field'],
  ['a batch of 501', { path: '/v1/batch', body: { batch: Array(501).fill(track) } }, 413, 'payload_too_large'],
  [
    'a batch with a context that would be kept 500 times',
    { path: '/v1/batch', body: { batch: [track], context: { x: 'x'.repeat(40_000) } } },
    413,
    'payload_too_large',
  ],
  ['GET on a collection path', { method: 'GET' }, 405, 'method_not_allowed'],
  ['PUT on a collection path', { method: 'PUT' }, 405, 'method_not_allowed'],
  ['POST on the pixel', { path: '/v1/pixel/t' }, 405, 'method_not_allowed'],
  ['a pixel without a key', { path: '/v1/pixel/t?event=X', method: 'GET', key: null }, 401, 'invalid_pipeline_key'],
  [
    'a pixel without the signature that its pipeline asks for',
    { path: '/v1/pixel/t?writeKey=pk_signed&event=X', method: 'GET', key: null },
    401,
    'invalid_signature',
  ],
  ['a pixel without an event name', { path: '/v1/pixel/t?writeKey=pk_web', method: 'GET', key: null }, 400, 'missing_field'],
];

test.each(REFUSALS)('%s', async (_name, request, status, code) => {
  const before = (await harness.stored()).length;
  const response = await call(request);
  const body = (await response.json()) as { error: string; message: string };
  expect({ status: response.status, error: body.error }).toEqual({ status, error: code });
  expect(body.message).toMatch(/\w/);
  expect(response.headers.get('content-type')).toBe('application/json');
  expectCors(response, request.headers?.origin ?? ORIGIN);
  expect((await harness.stored()).length, 'nothing is stored').toBe(before);
});

function expectCors(response: Response, origin: string): void {
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST, OPTIONS',
    'access-control-allow-headers': 'Content-Type, Authorization',
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'Retry-After',
    vary: 'Origin',
  });
}

const ACCEPTED: [name: string, call: Call][] = [
  ['a track', { body: track }],
  ['a page', { path: '/v1/p', body: { type: 'page', name: 'Home' } }],
  ['an identify', { path: '/v1/i', body: { type: 'identify', userId: 'u' } }],
  ['a group', { path: '/v1/g', body: { type: 'group', groupId: 'g' } }],
  ['the long aliases without type', { path: '/v1/track', body: { event: 'X' } }],
  ['a long page without a name', { path: '/v1/page', body: {} }],
  ['a long identify', { path: '/v1/identify', body: { userId: 'u' } }],
  ['a long group', { path: '/v1/group', body: { groupId: 'g' } }],
  ['a screen', { path: '/v1/screen', body: { name: 'S' } }],
  ['a short screen', { path: '/v1/s', body: { type: 'screen' } }],
  ['an alias', { path: '/v1/alias', body: { userId: 'u', previousId: 'a' } }],
  ['a short alias', { path: '/v1/a', body: { type: 'alias', userId: 'u', previousId: 'a' } }],
  ['one event', { path: '/v1/events', body: { type: 'page' } }],
  ['a Basic key', { key: null, headers: { authorization: `Basic ${btoa('pk_web:')}` } }],
  ['a key in the query', { key: null, path: '/v1/t?writeKey=pk_web' }],
  ['a key in the query as Jitsu names it', { key: null, path: '/api/s/track?writekey=pk_web' }],
  ['a key with a secret in the query', { key: null, path: '/api/s/track?writekey=pk_web:browser' }],
  ['a key in the body', { key: null, body: { ...track, writeKey: 'pk_web' } }],
  ['a lower-case scheme', { key: null, headers: { authorization: 'bearer pk_web' } }],
  ['text/plain', { headers: { 'content-type': 'text/plain' } }],
  ['gzip labelled as gzip', { raw: gzipSync(JSON.stringify(track)), headers: { 'content-encoding': 'gzip' } }],
  ['gzip labelled as a form', { raw: gzipSync(JSON.stringify(track)), headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  [
    'gzip above 8 KB',
    { raw: gzipSync(JSON.stringify({ ...track, x: Array.from({ length: 9_000 }, (_, i) => Math.imul(i, 2_654_435_761)) })) },
  ],
  ['64 levels', { raw: `{"type":"track","event":"X","properties":${'{"a":'.repeat(62)}{}${'}'.repeat(62)}}` }],
  ['an allowed origin', { key: 'pk_shop' }],
  ['an allowed address', { key: 'pk_home' }],
  ['address and signature rules do not apply to web pipelines', { key: 'pk_webip' }],
  ['a signature in milliseconds', signed(String(NOW))],
  ['a signature in seconds', signed(String(Math.floor(NOW / 1_000)))],
  ['an unsigned request where none is needed', { key: 'pk_server' }],
  ['a challenge token in the body', { key: 'pk_token', body: { ...track, context: { challenge_token: 'token-of-pl_token' } } }],
  ['a challenge token in a header', { key: 'pk_token', headers: { 'x-challenge-token': 'token-of-pl_token' } }],
];

test.each(ACCEPTED)('takes %s', async (_name, request) => {
  const response = await call(request);
  expect({ status: response.status, body: await response.json() }).toEqual({ status: 200, body: { success: true } });
  expect(response.headers.get('content-type')).toBe('application/json');
  expectCors(response, ORIGIN);
});

test('a rate limit is a burst of one second, then 429 with Retry-After', async () => {
  const statuses: number[] = [];
  let retryAfter: string | null = null;
  for (let i = 0; i < 4; i++) {
    const response = await call({ key: 'pk_slow' });
    statuses.push(response.status);
    retryAfter ??= response.headers.get('retry-after');
    if (response.status === 429) expect(await response.json()).toMatchObject({ error: 'rate_limited' });
  }
  expect(statuses).toEqual([200, 200, 429, 429]);
  expect(retryAfter).toBe('1');
});
test('a batch goes into debt', async () => {
  const batch = await call({ key: 'pk_debt', path: '/v1/batch', body: { batch: Array(20).fill(track) } });
  expect(batch.status).toBe(200);
  const after = await call({ key: 'pk_debt' });
  expect({ status: after.status, wait: Number(after.headers.get('retry-after')) }).toEqual({ status: 429, wait: 4 });
});

test('a preflight names no key: 204, the origin echoed', async () => {
  for (const path of ['/v1/t', '/v1/batch', '/v1/webhook', '/v1/pixel/t']) {
    const response = await fetch(harness.url + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://any.test', 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
    });
    expect(response.status).toBe(204);
    expectCors(response, 'https://any.test');
  }
});
test('X-Retry-Count is allowed where a preflight asks for it', async () => {
  const response = await fetch(`${harness.url}/v1/t`, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN, 'access-control-request-headers': 'content-type,x-retry-count' },
  });
  expect(response.headers.get('access-control-allow-headers')).toBe('Content-Type, Authorization, X-Retry-Count');
});
test('a path that is not ours is left to others', async () => {
  for (const path of ['/', '/v1/admin/pipelines', '/v1/t/', '/v1/tt', '/V1/T', '//v1/t']) {
    const response = await fetch(harness.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer pk_web' },
      body: JSON.stringify(track),
    });
    expect(response.status, path).toBe(404);
  }
});
test('refusals are counted by code under the pipeline they were for', async () => {
  await harness.ingest.stop();
  const counts = (await harness.outcomes()).filter((outcome) => outcome.kind === 'ingest_counts');
  const of = (pipeline: string, code: RejectionCode) =>
    counts.filter((each) => each.pipeline_id === pipeline).reduce((sum, each) => sum + (each.rejected[code] ?? 0), 0);
  expect(of('pl_slow', 'rate_limited')).toBe(2);
  expect(of('pl_off', 'pipeline_disabled')).toBe(1);
  expect(of('pl_signed', 'invalid_signature')).toBe(5);
});
