import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aPipeline, call, FULL, isSending, Stage } from './fixtures.ts';
import type { SentEvent } from './ingest.ts';

const stage = new Stage();
const { ingest } = stage;
beforeAll(() => stage.start());
afterAll(() => stage.stop());
beforeEach(() => stage.reset());

const cookieOf = async (host: string) =>
  (await stage.context.cookies(`http://${host}:${stage.site.port}`)).filter((one) => one.name === '_df_id');

describe('the anonymous id', () => {
  test('comes from the server’s cookie, which has precedence over storage', async () => {
    await stage.serve(aPipeline());
    await stage.context.addCookies([{ name: '_df_id', value: 'from-the-server', domain: 'localhost', path: '/' }]);
    const page = await stage.open();
    const [event] = await ingest.waitFor((events) => events.length === 1);
    expect(event!.anonymousId).toBe('from-the-server');
    expect(ingest.requests[0]!.headers.cookie).toContain('_df_id=from-the-server');
    await stage.context.clearCookies();
    await page.reload();
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.anonymousId).toBe('from-the-server'); // from storage
  });

  test('is one that the page stored before, as the guides for other tools say, and gets the server’s cookie', async () => {
    ingest.cookieDomain = 'shop.test';
    await stage.serve(aPipeline(), { host: 'in.shop.test' });
    await stage.context.addInitScript("localStorage._df_id ||= 'of-another-tool'");
    await stage.open('/', 'shop.test');
    const [event] = await ingest.waitFor((events) => events.length === 1);
    expect(event!.anonymousId).toBe('of-another-tool');
    await expect.poll(() => cookieOf('shop.test')).toMatchObject([{ value: 'of-another-tool', domain: '.shop.test' }]);
  });

  test('is set by a server on the same site, and shared by its subdomains', async () => {
    ingest.cookieDomain = 'shop.test';
    await stage.serve(aPipeline(), { host: 'in.shop.test' });
    await stage.open('/', 'shop.test');
    const [first] = await ingest.waitFor((events) => events.length === 1);
    await expect.poll(() => cookieOf('shop.test')).toMatchObject([{ value: first!.anonymousId, domain: '.shop.test' }]);
    await stage.open('/', 'www.shop.test');
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.anonymousId).toBe(first!.anonymousId);
    expect(ingest.requests[1]!.headers.cookie).toContain(first!.anonymousId);
  });

  test('from a page of another site: own cookie, on the widest domain of the page', async () => {
    await stage.serve(aPipeline(), { host: 'collect.other.test' });
    await stage.open('/', 'www.shop.test');
    const [event] = await ingest.waitFor((events) => events.length === 1);
    expect(ingest.requests[0]!.headers.origin).toBe(`http://www.shop.test:${stage.site.port}`);
    expect(ingest.preflights).toBe(0); // the request needs no CORS preflight
    await expect.poll(() => cookieOf('shop.test')).toMatchObject([{ value: event!.anonymousId, domain: '.shop.test', sameSite: 'Lax' }]);
    const [cookie] = await cookieOf('shop.test');
    expect(cookie!.expires * 1000 - Date.now()).toBeGreaterThan(399 * 86_400_000);
  });

  test('reset ends the cookie too', async () => {
    ingest.cookieDomain = 'shop.test';
    await stage.serve(aPipeline(), { host: 'in.shop.test' });
    const page = await stage.open('/', 'shop.test');
    await ingest.waitFor((events) => events.length === 1);
    await expect.poll(() => cookieOf('shop.test')).toHaveLength(1);
    await call(page, 'reset');
    expect(await page.evaluate('document.cookie')).not.toContain('_df_id');
    await call(page, 'track', 'After');
    const after = (await ingest.waitFor((all) => all.length === 2))[1]!;
    await expect.poll(async () => (await cookieOf('shop.test'))[0]?.value).toBe(after.anonymousId);
  });

  test('reset is not undone by an event that was queued before it and sent while the page was left', async () => {
    ingest.cookieDomain = 'shop.test';
    await stage.serve(aPipeline(), { host: 'in.shop.test' });
    stage.site.pages.set('/login', { html: '<title>Login</title>' }); // has no collector that could repair the cookie
    const page = await stage.open('/', 'shop.test');
    const [before] = await ingest.waitFor((events) => events.length === 1);
    await expect.poll(() => cookieOf('shop.test')).toHaveLength(1);
    await expect.poll(() => isSending(page)).toBe(false);
    await page.evaluate(() => {
      const w = window as unknown as { _df: Record<string, (...args: unknown[]) => void> };
      w._df.track!('Signed Out');
      w._df.reset!();
      location.href = '/login';
    });
    await page.waitForURL('**/login');
    const queued = (await ingest.waitFor((events) => events.length === 2))[1];
    expect(queued).toMatchObject({ event: 'Signed Out', anonymousId: before!.anonymousId });
    await expect.poll(() => cookieOf('shop.test')).toHaveLength(1); // from the reply to it
    // Page views only: a page may repeat an event whose reply it did not see.
    const view = async (nth: number) => {
      const views = (events: SentEvent[]) => events.filter((event) => event.type === 'page');
      return views(await ingest.waitFor((events) => views(events).length === nth))[nth - 1]!.anonymousId;
    };
    await page.goto(stage.url('/', 'shop.test'));
    const after = await view(2);
    expect(after).not.toBe(before!.anonymousId);
    expect((await cookieOf('shop.test'))[0]!.value).toBe(after);
    await stage.open('/', 'www.shop.test'); // shares the cookie, not the storage
    expect(await view(3)).toBe(after);
  });

  test('is requested without blocking the page, and calls wait for it in order', async () => {
    await stage.serve(aPipeline(), {
      head: `<script>const { get } = CookieStore.prototype; CookieStore.prototype.get = (...args) => new Promise((tell) => { window.tell = () => tell(get.apply(cookieStore, args)) })</script>`,
    });
    await stage.context.addCookies([{ name: '_df_id', value: 'from-the-server', domain: 'localhost', path: '/' }]);
    const page = await stage.open();
    await page.waitForFunction('window._df && window._df.track && window.tell');
    await page.evaluate(() => {
      const w = window as unknown as { _df: Record<string, (...args: unknown[]) => void>; tell(): void };
      w._df.track!('A');
      w._df.push!(['track', 'B']);
      w.tell();
    });
    const events = await ingest.waitFor((all) => all.length === 3);
    expect(events.map((event) => event.event ?? event.type)).toEqual(['A', 'B', 'page']);
    expect(new Set(events.map((event) => event.anonymousId))).toEqual(new Set(['from-the-server']));
  });

  test('a page left before the cookie was read loses nothing and keeps the visitor', async () => {
    await stage.serve(aPipeline(), { head: '<script>CookieStore.prototype.get = () => new Promise(() => {})</script>' });
    await stage.context.addCookies([{ name: '_df_id', value: 'from-the-server', domain: 'localhost', path: '/' }]);
    const page = await stage.open();
    await page.waitForFunction('window._df && window._df.track');
    await call(page, 'track', 'Early');
    expect(ingest.requests).toHaveLength(0);
    await page.goto('about:blank');
    const events = await ingest.waitFor((all) => all.some((event) => event.event === 'Early'));
    for (const event of events) expect(event.anonymousId).toBe('from-the-server');
  });

  test('survives a page that clears its storage', async () => {
    await stage.serve(aPipeline());
    const page = await stage.open();
    await ingest.waitFor((events) => events.length === 1);
    await page.evaluate(() => localStorage.clear());
    await call(page, 'track', 'T');
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.anonymousId).toBeTruthy();
  });
});

describe('cross-domain', () => {
  const pipeline = aPipeline({ cross_domain: true }, { cross_domain_domains: ['*.blog.test', 'blog.test'] });
  const body = () => `
    <a id="ours" href="http://blog.test:${stage.site.port}/landing?b=%20x&c=1#top"><b id="inner">blog</b></a>
    <a id="sub" href="http://news.blog.test:${stage.site.port}/">news</a>
    <a id="other" href="http://elsewhere.test:${stage.site.port}/">other</a>
    <a id="same" href="/same">same</a>
    <form id="get" action="http://blog.test:${stage.site.port}/search"><input name="q" value="x"><button id="get-go">go</button></form>
    <form id="post" method="post" action="http://blog.test:${stage.site.port}/buy?a=1"><button id="post-go">go</button></form>`;
  const start = async () => {
    await stage.serve(pipeline, { body: body() });
    const page = await stage.open('/', 'shop.test');
    const [first] = await ingest.waitFor((events) => events.length === 1);
    // Wait until the response was handled: a page left before that may send its view again.
    await expect.poll(() => isSending(page)).toBe(false);
    return { page, first: first! };
  };

  test('a click passes the id to another own domain, which removes it from the address bar', async () => {
    const { page, first } = await start();
    await page.click('#inner');
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.anonymousId).toBe(first.anonymousId);
    const clean = `http://blog.test:${stage.site.port}/landing?b=%20x&c=1#top`;
    await expect.poll(() => page.url()).toBe(clean);
    expect(events[1]!.properties!.url).toBe(clean);
  });

  test('GET and POST forms pass it', async () => {
    const { page, first } = await start();
    await page.click('#get-go');
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.anonymousId).toBe(first.anonymousId);
    await expect.poll(() => page.url()).toBe(`http://blog.test:${stage.site.port}/search?q=x`);
    await page.goBack();
    await ingest.waitFor((all) => all.length === 3);
    await page.click('#post-go');
    const later = await ingest.waitFor((all) => all.some((event) => event.properties!.path === '/buy'));
    expect(later.at(-1)!.anonymousId).toBe(first.anonymousId);
    await expect.poll(() => page.url()).toBe(`http://blog.test:${stage.site.port}/buy?a=1`);
  });

  test('other links are not changed, and a wildcard covers subdomains', async () => {
    const { page } = await start();
    const after = await page.evaluate(() => {
      document.addEventListener('click', (event) => event.preventDefault());
      return ['sub', 'other', 'same'].map((id) => {
        const link = document.getElementById(id) as HTMLAnchorElement;
        link.click();
        return link.href.includes('_df_x');
      });
    });
    expect(after).toEqual([true, false, false]);
  });

  test.each([
    ['too old', (value: string) => value, 121_000],
    ['changed', (value: string) => `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`, 0],
    ['nonsense', () => '%E0%A4%A', 0],
    ['empty', () => '', 0],
  ])('a parameter that is %s says nothing, and is removed all the same', async (_, change, ageMs) => {
    const { page, first } = await start();
    const value = await page.evaluate((age) => {
      const real = Date.now;
      Date.now = () => real() - age;
      document.addEventListener('click', (event) => event.preventDefault());
      const link = document.getElementById('ours') as HTMLAnchorElement;
      link.click();
      Date.now = real;
      return new URL(link.href).searchParams.get('_df_x')!;
    }, ageMs);
    expect(value).toContain(first.anonymousId);
    const other = await stage.open(`/landing?a=1&_df_x=${change(value)}`, 'blog.test');
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.anonymousId).not.toBe(first.anonymousId);
    await expect.poll(() => other.url()).toBe(`http://blog.test:${stage.site.port}/landing?a=1`);
  });

  test('another browser does not take over the id from a copied link', async () => {
    const { page } = await start();
    const value = await page.evaluate(() => {
      document.addEventListener('click', (event) => event.preventDefault());
      const link = document.getElementById('ours') as HTMLAnchorElement;
      link.click();
      return link.href;
    });
    const friend = await stage.another({ userAgent: 'Another/1.0' });
    const other = await friend.newPage();
    await other.goto(value);
    const events = await ingest.waitFor((all) => all.length === 2);
    expect(events[1]!.anonymousId).not.toBe(events[0]!.anonymousId);
  });
});

test('page variables of every source are added, and the call’s own fields win', async () => {
  const pipeline = aPipeline({
    variables: [
      { name: 'layer', source: 'data_layer', path: 'ecommerce.value', target: 'properties.value' },
      { name: 'js', source: 'js_variable', path: 'shop.items[1].sku', target: 'properties.sku' },
      { name: 'cookie', source: 'cookie', path: 'ab.test', target: 'context.experiment' },
      { name: 'query', source: 'query', path: 'ref', target: 'properties.ref' },
      { name: 'meta', source: 'meta', path: 'og:type', target: 'properties.kind' },
      { name: 'selector', source: 'selector', path: '#total', target: 'properties.total' },
      { name: 'input', source: 'selector', path: 'input[name=coupon]', target: 'properties.coupon' },
      { name: 'user', source: 'js_variable', path: 'shop.user', target: 'user_id' },
      { name: 'missing', source: 'js_variable', path: 'no.such.thing', target: 'properties.missing' },
      { name: 'broken', source: 'selector', path: '###', target: 'properties.broken' },
      { name: 'cycle', source: 'js_variable', path: 'window', target: 'properties.cycle' },
    ],
  });
  const head = `<meta property="og:type" content="product"><script>
    document.cookie = 'ab.test=' + encodeURIComponent('vàriant 1');
    dataLayer = [{ ecommerce: { value: 1 } }, { event: 'x' }, { ecommerce: { value: 2 } }, null];
    shop = { user: 'u-7', items: [{}, { sku: 'A1' }] };</script>`;
  await stage.serve(pipeline, {
    head,
    body: '<p id="total"> 42.00 </p><input name="coupon" value="SAVE">',
    attributes: 'data-auto-page="false"',
  });
  const page = await stage.open('/?ref=mail');
  await page.waitForFunction('window._df && window._df.track');
  await call(page, 'track', 'T', { ref: 'own' });
  const [event] = await ingest.waitFor((events) => events.length === 1);
  expect(event).toMatchObject({
    userId: 'u-7',
    properties: { value: 2, sku: 'A1', ref: 'own', kind: 'product', total: '42.00', coupon: 'SAVE' },
    context: { experiment: 'vàriant 1' },
  });
  for (const name of ['missing', 'broken', 'cycle']) expect(event!.properties).not.toHaveProperty(name);
});

describe('the automatic page view waits for the variables of a page that is still loading', () => {
  const pipeline = aPipeline({ variables: [{ name: 'total', source: 'selector', path: '#total', target: 'properties.total' }] });
  // Runs during parsing. Without https there is no `cookieStore`, so it starts at once.
  const serve = async (body: string) => {
    const src = `http://shop.test:${ingest.port}/c/${pipeline.pipeline_key}/d.js`;
    await stage.serve(pipeline, { host: 'shop.test', head: `<script src="${src}"></script>`, body });
  };

  test('until the document is parsed', async () => {
    await serve('<p id="total">42</p>');
    await stage.open('/', 'shop.test');
    const [event] = await ingest.waitFor((events) => events.length === 1);
    expect(event).toMatchObject({ type: 'page', properties: { total: '42' } });
  });

  test('but a page that is left before is counted', async () => {
    await serve('<p id="total">42</p><script src="/never.js"></script>');
    await stage.context.route('**/never.js', () => {});
    const page = await stage.context.newPage();
    await page.goto(stage.url('/', 'shop.test'), { waitUntil: 'commit' });
    await page.waitForFunction('document.querySelector("#total")');
    expect(ingest.requests).toHaveLength(0);
    await page.goto('about:blank');
    const [event] = await ingest.waitFor((events) => events.length === 1);
    expect(event).toMatchObject({ type: 'page', properties: { total: '42' } });
  });
});

describe('vendor ids', () => {
  const COOKIES = {
    _fbp: 'fb.1.1700000000000.123',
    _fbc: 'fb.1.1700000000000.click',
    _ga: 'GA1.1.111.222',
    _ga_ABC123: 'GS2.1.s1700000001$o1$g0$t1700000001$j60$l0$h0',
    _ttp: 'ttp-1',
    _scid: 'scid-1',
    _epik: 'epik-1',
  };
  const head = `<script>${Object.entries(COOKIES)
    .map(([name, value]) => `document.cookie = '${name}=${value}';`)
    .join('')}</script>`;

  test('are read without a consent category, and only of the named vendors', async () => {
    await stage.serve(
      aPipeline({ vendor_syncs: { meta: { enabled: true }, google_analytics: { enabled: true }, tiktok: { enabled: false } } }),
      { head },
    );
    await stage.open();
    const [event] = await ingest.waitFor((events) => events.length === 1);
    expect(event!.context.vendor_ids).toEqual({
      fbp: COOKIES._fbp,
      fbc: COOKIES._fbc,
      ga_client_id: '111.222',
      ga_session_id: '1700000001',
    });
  });

  test.each([
    ['with cookies', head, 5],
    ['without any', '', 0],
  ])('cost the page one look at its cookies, however many vendors there are: %s', async (_, cookies, found) => {
    const count = `<script>looks = 0; const cookies = Object.getOwnPropertyDescriptor(Document.prototype, 'cookie');
      Object.defineProperty(document, 'cookie', { get() { looks++; return cookies.get.call(document) }, set(text) { cookies.set.call(document, text) } })</script>`;
    await stage.serve(
      aPipeline({ vendor_syncs: { meta: { enabled: true }, google_analytics: { enabled: true }, tiktok: { enabled: true } } }),
      { head: `${cookies}${count}` },
    );
    const page = await stage.open();
    const [event] = await ingest.waitFor((events) => events.length === 1);
    expect(Object.keys(event!.context.vendor_ids)).toHaveLength(found);
    expect(await page.evaluate('looks')).toBe(1);
  });

  test('with a category, only once it is granted', async () => {
    const category = (consent_category: string) => ({ enabled: true, consent_category });
    await stage.serve(
      aPipeline({
        vendor_syncs: { meta: category('marketing'), google_analytics: category('analytics'), snapchat: category('advertising') },
      }),
      { head },
    );
    const page = await stage.open();
    const [first] = await ingest.waitFor((events) => events.length === 1);
    expect(first!.context.vendor_ids).toEqual({});
    await call(page, 'consent', { statistics: true, marketing: false });
    await call(page, 'track', 'A');
    await call(page, 'consent', { statistics: false, marketing: 'granted' });
    await call(page, 'track', 'B');
    const events = await ingest.waitFor((all) => all.some((event) => event.event === 'B'));
    const of = (name: string) => Object.keys(events.find((event) => event.event === name)!.context.vendor_ids).sort();
    expect(of('A')).toEqual(['ga_client_id', 'ga_session_id']);
    expect(of('B')).toEqual(['fbc', 'fbp', 'scid']); // advertising falls back to marketing
  });

  test('Global Privacy Control denies marketing, and is sent with the event', async () => {
    await stage.serve(aPipeline({ vendor_syncs: { meta: { enabled: true, consent_category: 'marketing' } } }), {
      head: `${head}<script>Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { value: true });
        Object.defineProperty(Navigator.prototype, 'doNotTrack', { value: '1' }); window._df = [['consent', { marketing: true }]];</script>`,
    });
    await stage.open();
    const events = await ingest.waitFor((all) => all.some((event) => event.type === 'page'));
    const view = events.find((event) => event.type === 'page')!;
    expect(view.context).toMatchObject({ gpc: true, dnt: true, vendor_ids: {}, consent: { categories: { marketing: true } } });
  });
});

test('all features work together', async () => {
  await stage.serve(FULL, {
    head: `<meta name="section" content="shoes"><script>Cookiebot = { hasResponse: true, consent: { necessary: true, statistics: true, marketing: true } }; document.cookie = '_fbp=fb.1.2.3'</script>`,
  });
  const page = await stage.open();
  await call(page, 'track', 'T');
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'T'));
  expect(events.find((event) => event.event === 'T')).toMatchObject({
    properties: { section: 'shoes' },
    context: { vendor_ids: { fbp: 'fb.1.2.3' }, consent: { categories: { necessary: true, statistics: true, marketing: true } } },
  });
});
