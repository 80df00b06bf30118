import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedDomain } from './cookies.ts';
import { browser, type Send, snapshot, startSending, track } from './testing/events.ts';
import { aPipeline, aSnapshot, type Harness } from './testing/harness.ts';

const consented = { consent: { categories: { necessary: true, statistics: true, marketing: true } } };
let harness: Harness;
let send: Send;
beforeAll(async () => {
  ({ harness, send } = await startSending());
});
afterAll(() => harness.close());

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
  test('is the id that the visitor has now, not that of an event queued before a reset', async () => {
    const queued = { ...track, anonymousId: 'before-reset' };
    for (const [path, body] of [
      ['/v1/t', { ...queued, cookieId: 'after-reset' }],
      ['/v1/batch', { batch: [queued], cookieId: 'after-reset' }],
    ] as const) {
      const { cookies, stored } = await send(path, body, browser);
      expect(cookies[0], path).toMatch(/^_df_id=after-reset;/);
      if (path === '/v1/t') expect(stored.event.anonymous_id).toBe('before-reset');
    }
    expect((await send('/v1/t', { ...queued, cookieId: 'now' }, { ...browser, cookie: '_df_id=now' })).cookies).toEqual([]);
    expect((await send('/v1/t', { ...queued, cookieId: ['no id'] }, browser)).cookies[0]).toMatch(/^_df_id=before-reset;/);
    expect((await send('/v1/t', { ...queued, cookieId: 'now' }, browser, 'pk_gate')).cookies).toEqual([]);
  });
  test.each([
    ['/v1/t', (event: object) => event],
    ['/v1/batch', (event: object) => ({ batch: [event] })],
  ])('keeps an id that a cookie has to encode, which the collector sends as it stands there: %s', async (path, bodyOf) => {
    const messageId = `encoded ${path}`;
    const id = 'tenant|ü 1%';
    const [set] = (await send('/v1/t', { ...track, anonymousId: id }, browser)).cookies;
    const cookie = set!.split(';')[0]!;
    const raw = cookie.split('=')[1]!;
    expect(raw).not.toBe(id);
    const body = { ...bodyOf({ ...track, messageId, anonymousId: raw }), messageId, cookieId: raw };
    const { cookies, stored } = await send(path, body, { ...browser, cookie });
    expect(stored.event.anonymous_id).toBe(id);
    expect(cookies).toEqual([]);
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
    expect(stored.envelope.gpc).toBe(true);
  });
  test.each([true, 1, '1', 'true'])('so does context.gpc: %j', async (gpc) => {
    const { cookies } = await send('/v1/t', { ...track, context: { ...consented, gpc } }, browser, 'pk_sync');
    expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual(['_df_id', '_ga']);
  });
  test('without the required consent category no cookie is minted, but existing ones are read', async () => {
    const js = aPipeline().js_builder_config;
    const vendor_syncs = { meta: { consent_category: 'marketing' }, tiktok: {} };
    harness.use(aSnapshot([aPipeline({ js_builder_config: { ...js, vendor_syncs, consent_config: { required_category: 'analytics' } } })]));
    const context = { consent: { categories: { marketing: true, statistics: false } } };
    const { cookies, stored } = await send('/v1/t', { ...track, context }, { ...browser, cookie: '_ttp=there' });
    harness.use(snapshot);
    expect(cookies).toEqual([]);
    expect(stored.event.context.vendor_ids).toEqual({ ttp: 'there' });
  });
  test.each([
    ['a denial after a grant sets nothing', [true, false], []],
    ['a grant after a denial sets the id', [false, true], ['_df_id']],
  ])('with a required category, in a batch: %s', async (_name, wishes, set) => {
    const batch = wishes.map((statistics, i) => ({
      ...track,
      messageId: `${_name} ${i}`,
      context: { consent: { categories: { statistics } } },
    }));
    const { cookies } = await send('/v1/batch', { batch, messageId: batch[0]!.messageId }, browser, 'pk_gate');
    expect(cookies.map((cookie) => cookie.split('=')[0])).toEqual(set);
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
