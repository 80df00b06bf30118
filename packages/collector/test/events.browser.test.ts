import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aPipeline, call, KEY, Stage } from './fixtures.ts';

const stage = new Stage();
const { ingest } = stage;
beforeAll(() => stage.start());
afterAll(() => stage.stop());
beforeEach(() => stage.reset());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('the first page view has page, visitor and device', async () => {
  await stage.serve(aPipeline());
  const page = await stage.open('/shoes?utm_source=news&utm_campaign=spring&gclid=G1&ScCid=S1&color=red#size');
  const [event] = await ingest.waitFor((events) => events.length === 1);
  const [request] = ingest.requests;
  expect(request!.path).toBe('/v1/p');
  expect(request!.body.writeKey).toBe(KEY);
  expect(event!.type).toBe('page');
  expect(event!.messageId).toMatch(UUID);
  expect(event!.anonymousId).toMatch(UUID);
  expect(Math.abs(Date.parse(event!.timestamp) - Date.now())).toBeLessThan(300_000);
  expect(Math.abs(Date.parse(request!.body.sentAt as string) - Date.now())).toBeLessThan(300_000);
  const url = stage.url('/shoes?utm_source=news&utm_campaign=spring&gclid=G1&ScCid=S1&color=red#size');
  expect(event!.properties).toMatchObject({ url, path: '/shoes', title: 'Shop', referrer: '' });
  expect(event!.context).toMatchObject({
    page: { url, title: 'Shop' },
    campaign: { source: 'news', name: 'spring' },
    click_ids: { gclid: 'G1', ScCid: 'S1' },
    locale: await page.evaluate(() => navigator.language),
    timezone: await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone),
    screen: { width: expect.any(Number), height: expect.any(Number), density: expect.any(Number) },
  });
  expect(event!.context.click_ids).not.toHaveProperty('color');
  // The server reads it from the request.
  expect(request!.headers['user-agent']).toBe(await page.evaluate(() => navigator.userAgent));
});

// `crypto.randomUUID` exists on secure pages only.
test.each(['localhost', 'shop.test'])('ids are UUIDs of their own on %s', async (host) => {
  await stage.serve(aPipeline(), { head: `<script>window._df = [['track', 'A'], ['track', 'B']]</script>` });
  const page = await stage.open('/', host);
  const events = await ingest.waitFor((all) => all.length === 3);
  expect(await page.evaluate('isSecureContext')).toBe(host === 'localhost');
  const ids = [events[0]!.anonymousId, ...events.map((event) => event.messageId)];
  for (const id of ids) expect(id).toMatch(UUID);
  expect(new Set(ids).size).toBe(4);
});

test.each([
  ['from Temporal, without the cost of a formatter', '', 0],
  ['from a formatter where there is no Temporal', 'delete window.Temporal;', 1],
])('the time zone comes %s', async (_, before, made) => {
  await stage.serve(aPipeline(), {
    head: `<script>${before} made = 0; const real = Intl.DateTimeFormat; Intl.DateTimeFormat = () => { made++; return real() }</script>`,
  });
  const page = await stage.open('/', 'localhost', await stage.another({ timezoneId: 'Asia/Tokyo' }));
  const [event] = await ingest.waitFor((events) => events.length === 1);
  expect(event!.context.timezone).toBe('Asia/Tokyo');
  expect(await page.evaluate('made')).toBe(made);
});

test('every method reaches its own endpoint, with the fields of the specification', async () => {
  await stage.serve(aPipeline(), { attributes: 'data-auto-page="false"' });
  const page = await stage.open();
  await page.waitForFunction('window._df && window._df.track');
  const calls: unknown[][] = [
    ['track', 'Order Completed', { total: 42 }],
    ['page', 'Checkout', { step: 2 }],
    ['identify', 'u-1', { email: 'a@b.example' }],
    ['group', 'g-1', { plan: 'pro' }],
  ];
  for (const [i, one] of calls.entries()) {
    await call(page, ...one);
    await ingest.waitFor((events) => events.length === i + 1);
  }
  expect(ingest.requests.map((one) => one.path)).toEqual(['/v1/t', '/v1/p', '/v1/i', '/v1/g']);
  const [track, view, identify, group] = ingest.accepted;
  expect(track).toMatchObject({ type: 'track', event: 'Order Completed', properties: { total: 42 } });
  expect(track).not.toHaveProperty('userId');
  expect(view).toMatchObject({ type: 'page', name: 'Checkout', properties: { step: 2, path: '/' } });
  expect(identify).toMatchObject({ type: 'identify', userId: 'u-1', traits: { email: 'a@b.example' } });
  expect(group).toMatchObject({ type: 'group', groupId: 'g-1', userId: 'u-1', traits: { plan: 'pro' } });
  expect(new Set(ingest.accepted.map((event) => event.anonymousId)).size).toBe(1);
  expect(new Set(ingest.accepted.map((event) => event.messageId)).size).toBe(4);
});

test('arguments may be left out, and options override', async () => {
  await stage.serve(aPipeline(), { attributes: 'data-auto-page="false"' });
  const page = await stage.open();
  await page.waitForFunction('window._df && window._df.track');
  await page.evaluate(() => {
    const df = (window as unknown as { _df: Record<string, (...args: unknown[]) => void> })._df;
    df.identify!({ plan: 'none' }); // without a user id there is nothing to send
    df.identify!(42, { a: 1 });
    df.identify!({ b: 2 });
    df.identify!(null, { c: 3 });
    df.page!({ section: 'x' });
    df.track!('T', { a: 1 }, { timestamp: '2024-01-01T00:00:00.000Z', messageId: 'm-1', context: { app: { version: '1' } } });
  });
  const events = await ingest.waitFor((all) => all.length === 5);
  expect(events.slice(0, 3).map((event) => [event.userId, event.traits])).toEqual([
    ['42', { a: 1 }],
    ['42', { b: 2 }],
    ['42', { c: 3 }],
  ]);
  expect(events[3]).toMatchObject({ type: 'page', properties: { section: 'x' } });
  expect(events[4]).toMatchObject({ messageId: 'm-1', timestamp: '2024-01-01T00:00:00.000Z', context: { app: { version: '1' } } });
  expect(events[4]!.context.page).toMatchObject({ title: 'Shop' });
});

test('calls before the load are sent in order, and old references to the queue stay valid', async () => {
  const head = `<script>
    window._df = []; window.early = window._df;
    _df.push(['identify', 'u-9', { a: 1 }]);
    _df.push(['track', 'First']);
    _df.track = function () { _df.push(['track'].concat([].slice.call(arguments))) };
    _df.track('Second', { n: 2 });
    (function () { _df.push(arguments) })('track', 'Third');
  </script>`;
  await stage.serve(aPipeline(), { head });
  const page = await stage.open();
  await ingest.waitFor((events) => events.some((event) => event.type === 'page'));
  await page.evaluate(() => (window as unknown as { early: { push(call: unknown[]): void } }).early.push(['track', 'Fourth']));
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'Fourth'));
  expect(events.map((event) => event.event ?? event.type)).toEqual(['identify', 'First', 'Second', 'Third', 'page', 'Fourth']);
  expect(ingest.requests[0]!.path).toBe('/v1/batch');
  expect(events[2]).toMatchObject({ userId: 'u-9', properties: { n: 2 } });
});

test('a page call by the site replaces the automatic one', async () => {
  await stage.serve(aPipeline(), { head: `<script>window._df = [['page', 'Own']]</script>` });
  const page = await stage.open();
  await ingest.waitFor((events) => events.length > 0);
  await call(page, 'track', 'End');
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'End'));
  expect(events.map((event) => event.name ?? event.event)).toEqual(['Own', 'End']);
});

test('navigation in a single-page application is tracked, and its history still works', async () => {
  await stage.serve(aPipeline());
  const page = await stage.open('/a');
  await ingest.waitFor((events) => events.length === 1);
  const kept = await page.evaluate(async () => {
    history.pushState({ n: 1 }, '', '/b?x=1');
    document.title = 'B';
    await new Promise((resolve) => setTimeout(resolve, 50));
    history.replaceState({ n: 2 }, '', '/b?x=1'); // same address: no view
    location.hash = 'part'; // an anchor: no view
    await new Promise((resolve) => setTimeout(resolve, 50));
    history.replaceState({ n: 3 }, '', '/c');
    await new Promise((resolve) => setTimeout(resolve, 50));
    location.hash = '#/route';
    await new Promise((resolve) => setTimeout(resolve, 50));
    location.hash = '#/route#part'; // an anchor of that route: no view
    await new Promise((resolve) => setTimeout(resolve, 50));
    return history.state as unknown;
  });
  expect(kept).toBe(null); // the hash navigation has no state
  await page.evaluate(() => history.go(-2));
  const events = await ingest.waitFor((all) => all.length === 5);
  const base = stage.url('');
  expect(events.map((event) => String(event.properties!.url).slice(base.length))).toEqual(['/a', '/b?x=1', '/c', '/c#/route', '/c']);
  expect(events[1]!.properties).toMatchObject({ title: 'B', referrer: `${base}/a` });
  expect(events[2]!.properties).toMatchObject({ referrer: `${base}/b?x=1` });
  await expect(page.evaluate(() => history.pushState({}, '', 'http://elsewhere.test/'))).rejects.toThrow(/SecurityError|cannot be created/);
});

test.each([
  ['is a page view', '', 2],
  ['is none without automatic page views', 'data-auto-page="false"', 1],
])('a return from the back/forward cache %s', async (_, attributes, views) => {
  await stage.serve(aPipeline(), { attributes });
  const page = await stage.open('/a');
  if (attributes) await call(page, 'page');
  const [first] = await ingest.waitFor((events) => events.length === 1);
  // The test browser has no such cache, so the page gets the events of one.
  await page.evaluate(() => {
    for (const type of ['pagehide', 'pageshow']) dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
  });
  await page.evaluate(() => new Promise((done) => setTimeout(done)));
  await call(page, 'track', 'Later');
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'Later'));
  const seen = events.filter((event) => event.type === 'page');
  expect(seen).toHaveLength(views);
  for (const event of seen) expect(event.properties).toEqual(first!.properties);
});

test('on, ready and reset', async () => {
  await stage.serve(aPipeline());
  const page = await stage.open();
  const [first] = await ingest.waitFor((events) => events.length === 1);
  await page.evaluate(() => {
    const w = window as unknown as { _df: Record<string, (...args: unknown[]) => void>; log: unknown[] };
    w.log = [];
    w._df.ready!(() => w.log.push('ready'));
    w._df.on!('track', () => {
      throw new Error('a handler of the page');
    });
    w._df.on!('track', (event: unknown) => w.log.push((event as { event: string }).event));
    w._df.identify!('u-1');
    w._df.track!('A');
    w._df.reset!();
    w._df.track!('B');
  });
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'B'));
  expect(await page.evaluate('window.log')).toEqual(['ready', 'A', 'B']);
  const [a, b] = ['A', 'B'].map((name) => events.find((event) => event.event === name)!);
  expect(a).toMatchObject({ userId: 'u-1', anonymousId: first!.anonymousId });
  expect(b).not.toHaveProperty('userId');
  expect(b!.anonymousId).not.toBe(first!.anonymousId);
  await page.reload();
  const after = (await ingest.waitFor((all) => all.length > events.length)).at(-1)!;
  expect(after.anonymousId).toBe(b!.anonymousId);
});

test('invalid arguments never throw, and valid events are still sent', async () => {
  await stage.serve(aPipeline());
  const page = await stage.open();
  await ingest.waitFor((events) => events.length === 1);
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  await page.evaluate(() => {
    const df = (window as unknown as { _df: Record<string, (...args: unknown[]) => void> })._df;
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    df.track!('Cycle', cycle);
    df.track!('BigInt', { n: 10n });
    df.track!('Getter', {
      get broken() {
        throw new Error('a getter of the page');
      },
    });
    df.push!(null);
    df.push!(['nosuch', 1]);
    df.push!(42);
    df.consent!(undefined);
    df.on!('track');
    df.ready!();
    df.identify!();
    df.group!();
    df.group!(null, { plan: 'free' });
    df.track!('Good', JSON.parse('{"__proto__": {"x": 1}, "a": "\\u2028"}'));
  });
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'Good'));
  expect(events.map((event) => event.event ?? event.type)).toEqual(['page', 'Good']);
  expect(errors).toEqual([]);
});

test('loading the script twice sends one page view', async () => {
  await stage.serve(aPipeline());
  const page = await stage.open();
  await ingest.waitFor((events) => events.length === 1);
  await page.addScriptTag({ url: `http://localhost:${ingest.port}/c/${KEY}/d.js` });
  await call(page, 'track', 'End');
  const events = await ingest.waitFor((all) => all.some((event) => event.event === 'End'));
  expect(events.map((event) => event.event ?? event.type)).toEqual(['page', 'End']);
});

test('attributes of the tag: another key, another address, a challenge token that changes', async () => {
  await stage.serve(aPipeline());
  const original = stage.site.pages.get('*')!;
  stage.site.pages.set('*', {
    html: original.html.replace(
      /data-pipeline-key="[^"]*"/,
      `data-pipeline-key="pk_other" data-ingest-url="http://127.0.0.1:${ingest.port}/" data-challenge-token="t1"`,
    ),
  });
  const page = await stage.open();
  await ingest.waitFor((events) => events.length === 1);
  expect(ingest.requests[0]!.body.writeKey).toBe('pk_other');
  expect(ingest.requests[0]!.headers.host).toBe(`127.0.0.1:${ingest.port}`);
  expect(ingest.accepted[0]!.context.challenge_token).toBe('t1');
  await page.evaluate(() => document.querySelector('script')!.setAttribute('data-challenge-token', 't2'));
  await call(page, 'track', 'T');
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events[1]!.context.challenge_token).toBe('t2');
});

test('another global name', async () => {
  await stage.serve(aPipeline({ global_variable: '$shop_events' }));
  const page = await stage.open();
  await page.waitForFunction('window.$shop_events && window.$shop_events.track');
  expect(await page.evaluate('typeof window._df')).toBe('undefined');
});

test('a page that is only prerendered is counted when it is shown', async () => {
  await stage.serve(aPipeline(), {
    head: `<script>Object.defineProperty(document, 'prerendering', { value: true, configurable: true }); window._df = [['track', 'Early']]</script>`,
  });
  const page = await stage.open();
  await page.waitForFunction('window._df.v');
  expect(await page.evaluate('typeof window._df.track')).toBe('undefined');
  expect(ingest.requests).toHaveLength(0);
  await page.evaluate(() => document.dispatchEvent(new Event('prerenderingchange')));
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events.map((event) => event.event ?? event.type)).toEqual(['Early', 'page']);
});
