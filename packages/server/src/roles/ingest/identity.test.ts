import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Snapshot } from '../../snapshot/types.ts';
import { sharedDomain } from './cookies.ts';
import { aPipeline, aSnapshot, type Harness, SECRET, type StoredEvent, startIngest } from './testing.ts';

const consented = { consent: { categories: { necessary: true, statistics: true, marketing: true } } };
let harness: Harness;
let snapshot: Snapshot;
beforeAll(async () => {
  const js = aPipeline().js_builder_config;
  snapshot = aSnapshot([
    aPipeline(),
    aPipeline({ id: 'pl_server', pipeline_key: 'pk_server', type: 'server' }),
    aPipeline({
      id: 'pl_gate',
      pipeline_key: 'pk_gate',
      js_builder_config: { ...js, consent_config: { required_category: 'analytics' } },
    }),
    aPipeline({
      id: 'pl_sync',
      pipeline_key: 'pk_sync',
      js_builder_config: {
        ...js,
        vendor_syncs: {
          meta: { enabled: true, consent_category: 'marketing' },
          google_analytics: { enabled: true },
          tiktok: { enabled: false },
        },
      },
    }),
  ]);
  harness = await startIngest(snapshot, { watched: true, settings: { trustProxy: 1 } });
});
afterAll(() => harness.close());

let serial = 0;
async function send(path: string, body: Record<string, unknown>, headers: Record<string, string> = {}, key = 'pk_web') {
  const messageId = (body.messageId as string | undefined) ?? `id-${serial++}`;
  const response = await fetch(harness.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ messageId, ...body }),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  const found = (await harness.stored()).filter((each) => each.event.event_id === messageId);
  return { response, cookies: response.headers.getSetCookie(), stored: found[0] as StoredEvent, times: found.length };
}
const track = { type: 'track', event: 'X' };
const browser = { origin: 'https://shop.example', 'x-forwarded-for': '203.0.113.9', 'user-agent': 'Browser/1' };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('anonymous id', () => {
  test.each([
    ['from the body', { ...track, anonymousId: 'a1', context: { anonymousId: 'a2' } }, { ...browser, cookie: '_df_id=a3' }, 'a1'],
    ['from the context', { ...track, context: { anonymousId: 'a2' } }, { ...browser, cookie: '_df_id=a3' }, 'a2'],
    ['from the cookie', track, { ...browser, cookie: 'x_df_id=no; _df_id=a%203; b=c' }, 'a 3'],
    ['a cookie that cannot be decoded is none', track, { ...browser, cookie: '_df_id=%E0%A4%A' }, UUID],
    ['derived for browsers, even with a userId', { ...track, userId: 'u' }, browser, UUID],
    ['derived without a userId', track, {}, UUID],
    ['none for servers with a userId', { ...track, userId: 'u' }, {}, undefined],
    ["an alias's previous id", { type: 'alias', userId: 'u', previousId: 'old' }, {}, 'old'],
  ])('%s', async (_name, body, headers, id) => {
    const { stored } = await send(body.type === 'alias' ? '/v1/alias' : '/v1/t', body, headers);
    if (id instanceof RegExp) expect(stored.event.anonymous_id).toMatch(id);
    else expect(stored.event.anonymous_id).toBe(id);
  });
  test('is the same for the same pipeline and messageId, another for another pipeline', async () => {
    const one = await send('/v1/t', { ...track, messageId: 'derive-me' }, browser);
    const other = await fetch(`${harness.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: 'Bearer pk_gate', ...browser },
      body: JSON.stringify({ ...track, messageId: 'derive-me' }),
    });
    expect(other.status).toBe(200);
    const ids = (await harness.stored()).filter((each) => each.event.event_id === 'derive-me').map((each) => each.event.anonymous_id);
    expect(new Set(ids).size).toBe(2);
    expect(ids).toContain(one.stored.event.anonymous_id);
  });
});

describe('the _df_id cookie', () => {
  test('is set for a browser without one, readable by scripts, for 400 days, host-only across sites', async () => {
    const { cookies, stored } = await send('/v1/t', track, browser);
    expect(cookies).toEqual([`_df_id=${stored.event.anonymous_id}; Path=/; Max-Age=34560000; SameSite=Lax`]);
  });
  test('is set where the body names another id, and not where it is the same', async () => {
    expect((await send('/v1/t', { ...track, anonymousId: 'new' }, { ...browser, cookie: '_df_id=old' })).cookies[0]).toMatch(
      /^_df_id=new;/,
    );
    expect((await send('/v1/t', { ...track, anonymousId: 'same' }, { ...browser, cookie: '_df_id=same' })).cookies).toEqual([]);
  });
  test('is for the registrable domain that host and origin share, and Secure on https', async () => {
    const { cookies } = await send('/v1/t', track, {
      ...browser,
      origin: 'https://www.shop.co.uk',
      'x-forwarded-host': 'collect.shop.co.uk',
      'x-forwarded-proto': 'https',
    });
    expect(cookies[0]).toMatch(/; Domain=shop\.co\.uk; Secure$/);
  });
  test('is not set for servers', async () => {
    expect((await send('/v1/t', track)).cookies).toEqual([]);
    expect((await send('/v1/t', track, browser, 'pk_server')).cookies).toEqual([]);
  });
  test('cannot be used to write headers', async () => {
    const { cookies } = await send('/v1/t', { ...track, anonymousId: 'a\r\nSet-Cookie: evil=1; Domain=x' }, browser);
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).toMatch(/^_df_id=a%0D%0ASet-Cookie%3A%20evil%3D1%3B%20Domain%3Dx; Path/);
  });
  test.each([
    ['no consent said', {}, false],
    ['denied', { consent: { categories: { statistics: false } } }, false],
    ['granted', { consent: { categories: { statistics: true } } }, true],
    ['granted in a list', { consent: { categories: ['statistics'] } }, true],
    ['granted by the canonical name', { consent: { canonical: { analytics: true } } }, true],
  ])('with a required category: %s', async (_name, context, set) => {
    const { cookies } = await send('/v1/t', { ...track, context }, browser, 'pk_gate');
    expect(cookies.length > 0).toBe(set);
  });
  test.each([
    ['www.shop.co.uk', 'https://shop.co.uk', 'shop.co.uk'],
    ['a.github.io', 'https://b.github.io', undefined],
    ['a.github.io', 'https://x.a.github.io', 'a.github.io'],
    ['127.0.0.1:80', 'http://127.0.0.1', undefined],
    ['localhost:8080', 'http://localhost:3000', undefined],
    ['collect.one.example', 'https://two.example', undefined],
    ['collect.one.example', undefined, undefined],
    ['', 'https://one.example', undefined],
  ])('%s and %s share %s', (host, origin, domain) => {
    expect(sharedDomain(host, origin)).toBe(domain);
  });
});

describe('vendor ids', () => {
  test('are minted with consent and set with the same answer', async () => {
    const { cookies, stored } = await send(
      '/v1/t',
      { ...track, context: { ...consented, page: { url: 'https://shop.example/?fbclid=CLICK' } } },
      browser,
      'pk_sync',
    );
    const named = Object.fromEntries(cookies.map((cookie) => cookie.split(';')[0]!.split('=')));
    expect(named._fbp).toMatch(/^fb\.1\.\d{13}\.\d{10}$/);
    expect(named._fbc).toMatch(/^fb\.1\.\d{13}\.CLICK$/);
    expect(named._ga).toMatch(/^GA1\.1\.\d+\.\d{10}$/);
    expect(named._ttp).toBeUndefined();
    expect(stored.event.context.vendor_ids).toEqual({
      fbp: named._fbp,
      fbc: named._fbc,
      ga_client_id: named._ga!.split('.').slice(2).join('.'),
    });
  });
  test('are read from cookies that are there', async () => {
    const { cookies, stored } = await send(
      '/v1/t',
      { ...track, anonymousId: 'a', context: consented },
      { ...browser, cookie: '_df_id=a; _fbp=fb.1.1.2; _ga=GA1.2.33.44' },
      'pk_sync',
    );
    expect(cookies).toEqual([]);
    expect(stored.event.context.vendor_ids).toEqual({ fbp: 'fb.1.1.2', ga_client_id: '33.44' });
  });
  test.each([
    ['without consent', {}, {}],
    ['with consent denied', { consent: { categories: { marketing: false, statistics: false } } }, {}],
  ])('are neither read nor minted %s', async (_name, context, headers) => {
    const { cookies, stored } = await send('/v1/t', { ...track, context }, { ...browser, cookie: '_fbp=fb.1.1.2', ...headers }, 'pk_sync');
    expect(cookies.filter((cookie) => !cookie.startsWith('_df_id='))).toEqual([]);
    expect(stored.event.context.vendor_ids).toBeUndefined();
  });
  test('are read where no category is named, and still minted only with consent', async () => {
    const js = aPipeline().js_builder_config;
    harness.use(aSnapshot([aPipeline({ js_builder_config: { ...js, vendor_syncs: { meta: {}, snapchat: {} } } })]));
    const { cookies, stored } = await send('/v1/t', { ...track, anonymousId: 'a' }, { ...browser, cookie: '_df_id=a; _fbp=fb.1.1.2' });
    harness.use(snapshot);
    expect(cookies).toEqual([]);
    expect(stored.event.context.vendor_ids).toEqual({ fbp: 'fb.1.1.2' });
  });
  test('Global Privacy Control denies marketing ids, not analytics ones', async () => {
    const { cookies, stored } = await send('/v1/t', { ...track, context: consented }, { ...browser, 'sec-gpc': '1' }, 'pk_sync');
    expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual(['_df_id', '_ga']);
    expect(stored.event.context.gpc).toBe(true);
  });
  test('are the same for all events of a batch', async () => {
    const event = { ...track, context: consented };
    const { cookies } = await send(
      '/v1/batch',
      {
        batch: [
          { ...event, messageId: 'v1' },
          { ...event, messageId: 'v2' },
        ],
        messageId: 'v1',
      },
      browser,
      'pk_sync',
    );
    expect(cookies.filter((cookie) => cookie.startsWith('_fbp='))).toHaveLength(1);
    const ids = (await harness.stored())
      .filter(({ event: { event_id } }) => event_id === 'v1' || event_id === 'v2')
      .map(({ event: { context } }) => context.vendor_ids);
    expect(ids[0]).toEqual(ids[1]);
  });
});

describe('address and user agent', () => {
  test.each([
    ['a browser path', '/v1/t', {}, 'pk_web', true],
    ['an Origin on a server path', '/v1/events', { origin: 'https://shop.example' }, 'pk_web', true],
    ['a server path', '/v1/events', {}, 'pk_web', false],
    ['a long alias', '/v1/track', {}, 'pk_web', false],
    ['a server pipeline', '/v1/t', { origin: 'https://shop.example' }, 'pk_server', false],
  ])('%s', async (_name, path, headers, key, taken) => {
    const { stored } = await send(path, track, { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'UA/1', ...headers }, key);
    expect(stored.event.context).toEqual(taken ? { ip: '203.0.113.9', user_agent: 'UA/1' } : {});
    expect(stored.envelope.source).toBe(taken ? 'browser' : 'server');
  });
});

describe('event id and duplicates', () => {
  test('a repeated messageId is answered 200, stored once and counted', async () => {
    for (let i = 0; i < 3; i++) expect((await send('/v1/t', { ...track, messageId: 'again' })).times).toBe(1);
    await harness.ingest.stop();
    const counts = (await harness.outcomes()).filter((outcome) => outcome.kind === 'ingest_counts');
    expect(counts.reduce((sum, each) => sum + each.duplicates, 0)).toBe(2);
    expect(counts.every((each) => each.received === 0)).toBe(true);
  });
  test('one messageId on two pipelines is two events', async () => {
    await send('/v1/t', { ...track, messageId: 'shared' });
    expect((await send('/v1/t', { ...track, messageId: 'shared' }, {}, 'pk_server')).times).toBe(2);
  });
  test('a batch with a repeat inside counts both as accepted', async () => {
    const { response, times } = await send('/v1/batch', {
      messageId: 'twice',
      batch: [
        { ...track, messageId: 'twice' },
        { ...track, messageId: 'twice' },
      ],
    });
    expect(await response.json()).toEqual({ success: true, accepted: 2, rejected: 0, errors: [] });
    expect(times).toBe(1);
  });
  test('a replayed signed request without messageId is a duplicate', async () => {
    const body = JSON.stringify({
      batch: [
        { type: 'track', event: 'Signed', userId: 'u' },
        { type: 'track', event: 'Signed', userId: 'u' },
      ],
    });
    const timestamp = String(Date.now());
    const signature = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex');
    for (const spelled of [signature, signature, signature.toUpperCase()]) {
      const response = await fetch(`${harness.url}/v1/batch`, {
        method: 'POST',
        headers: { authorization: 'Bearer pk_server', 'x-timestamp': timestamp, 'x-signature': `sha256=${spelled}` },
        body,
      });
      expect(response.status).toBe(200);
    }
    expect((await harness.stored()).filter((each) => each.event.event === 'Signed')).toHaveLength(2);
  });
});

test('a batch names its bad events and keeps the good ones', async () => {
  const { response } = await send('/v1/batch', {
    messageId: 'b1',
    context: { library: { name: 'lib' }, challenge_token: 'secret' },
    sentAt: new Date().toISOString(),
    batch: [
      { type: 'track', event: 'Good', messageId: 'b1', userId: 'u' },
      { type: 'track', messageId: 'b2' },
      { type: 'screen', name: 'S', messageId: 'b3', userId: 'u' },
      { type: 'alias', userId: 'u', previousId: 'p', messageId: 'b4' },
      'rubbish',
    ],
  });
  expect(await response.json()).toEqual({
    success: true,
    accepted: 3,
    rejected: 2,
    errors: [
      { index: 1, messageId: 'b2', error: 'missing_field', message: 'event is required.' },
      { index: 4, messageId: null, error: 'validation_failed', message: 'The event must be a JSON object.' },
    ],
  });
  const events = (await harness.stored())
    .filter(({ event: { event_id } }) => /^b\d$/.test(event_id))
    .map(({ event }) => [event.event_id, event.type, event.context]);
  expect(events.sort()).toEqual([
    ['b1', 'track', { library: { name: 'lib' } }],
    ['b3', 'page', { library: { name: 'lib' } }],
    ['b4', 'identify', { library: { name: 'lib' } }],
  ]);
});

test('a pixel takes its fields from the query', async () => {
  const query = new URLSearchParams({
    writeKey: 'pk_web',
    event: 'Mail Opened',
    userId: 'u',
    messageId: 'px',
    'properties.campaign': 'may',
    properties: '{"n":1}',
  });
  const response = await fetch(`${harness.url}/v1/pixel/t?${query}`, { headers: { referer: 'https://mail.example/x' } });
  expect(response.headers.get('content-type')).toBe('image/gif');
  expect(
    Buffer.from(await response.arrayBuffer())
      .subarray(0, 6)
      .toString(),
  ).toBe('GIF89a');
  const stored = (await harness.stored()).find((each) => each.event.event_id === 'px')!;
  expect(stored.event).toMatchObject({
    type: 'track',
    event: 'Mail Opened',
    user_id: 'u',
    properties: { campaign: 'may', n: 1 },
    context: { page: { url: 'https://mail.example/x' } },
  });
  expect(stored.event.anonymous_id).toMatch(UUID);
});

test('frames show what came in, without keys and tokens', async () => {
  await send('/v1/t', { ...track, messageId: 'framed', writeKey: 'pk_web', context: { challenge_token: 't', a: 1 } });
  const frame = harness.frames.find((each) => each.event_id === 'framed')!;
  expect(frame).toMatchObject({ stage: 'received', pipeline_id: 'pl_web', type: 'track', event: 'X' });
  expect(JSON.stringify(frame)).not.toMatch(/pk_web|challenge/);
});
test('the bytes are stored as they came', async () => {
  const raw = '{ "type":"track",\n "event":"Raw", "n": 1.50, "big": 12345678901234567890, "messageId":"raw" }';
  await fetch(`${harness.url}/v1/t`, { method: 'POST', headers: { authorization: 'Bearer pk_web' }, body: raw });
  expect((await harness.stored()).find((each) => each.event.event_id === 'raw')!.body.toString()).toBe(raw);
});
