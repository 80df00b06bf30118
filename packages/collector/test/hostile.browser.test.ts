import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { aPipeline, call, FULL, Stage } from './fixtures.ts';

const stage = new Stage();
const { ingest } = stage;
beforeAll(() => stage.start());
afterAll(() => stage.stop());
beforeEach(() => stage.reset());

test('storage and cookies denied: events are sent with one id per page, and nothing is stored', async () => {
  const context = await stage.browserWith({ profile: { default_content_setting_values: { cookies: 2 } } });
  await stage.serve(aPipeline());
  const page = await stage.open('/', 'shop.test', context);
  expect(
    await page.evaluate(() => {
      try {
        return typeof localStorage;
      } catch (error) {
        return (error as Error).name;
      }
    }),
  ).toBe('SecurityError');
  await ingest.waitFor((all) => all.length === 1);
  await call(page, 'identify', 'u-1');
  await call(page, 'track', 'T');
  const events = await ingest.waitFor((all) => all.length === 3);
  expect(new Set(events.map((event) => event.anonymousId)).size).toBe(1);
  expect(events[2]).toMatchObject({ event: 'T', userId: 'u-1' });
  // Nothing is stored, so the last attempt is made even on a failing server.
  const sent = ingest.requests.length;
  ingest.behave = (_, nth) => (nth === sent + 1 ? { status: 503, headers: { 'Retry-After': '600' } } : { status: 200 });
  await page.evaluate(() => {
    const { fetch } = window;
    // Wait until the collector has handled the response: until then the event is in flight and would not be sent again.
    const note = () => setTimeout(() => Object.assign(window, { answered: true }), 0);
    window.fetch = (...args) => fetch(...args).finally(note);
  });
  await call(page, 'track', 'Last');
  await page.waitForFunction('window.answered');
  expect(ingest.requests).toHaveLength(sent + 1);
  await page.goto('about:blank');
  await ingest.waitFor((all) => all.some((event) => event.event === 'Last'));
});

test('third-party cookies blocked: the page of another site keeps its own id', async () => {
  const context = await stage.browserWith({ profile: { cookie_controls_mode: 1, block_third_party_cookies: true } });
  await stage.serve(aPipeline(), { host: 'collect.other.test' });
  const page = await stage.open('/', 'shop.test', context);
  const [first] = await ingest.waitFor((all) => all.length === 1);
  await expect.poll(() => page.evaluate('document.cookie')).toContain(first!.anonymousId);
  await page.reload();
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events[1]!.anonymousId).toBe(first!.anonymousId);
  expect(ingest.requests[1]!.headers.cookie).toBeUndefined();
});

test('works with a strict content security policy without inline scripts and eval', async () => {
  const origin = `http://localhost:${ingest.port}`;
  await stage.serve(FULL, { csp: `default-src 'none'; script-src ${origin}; connect-src ${origin}; require-trusted-types-for 'script'` });
  const page = await stage.context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && !/favicon|404/.test(message.text()) && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(stage.url('/?a=1'));
  await call(page, 'track', 'T');
  await ingest.waitFor((all) => all.length === 2);
  expect(complaints).toEqual([]);
});

test('a policy that forbids the connection causes no error in the page', async () => {
  await stage.serve(aPipeline(), { csp: `script-src http://localhost:${ingest.port}; connect-src 'none'` });
  const page = await stage.context.newPage();
  const errors: Error[] = [];
  page.on('pageerror', (error) => errors.push(error));
  const refusal = page.waitForEvent('console', (message) => message.text().includes('connect-src'));
  await page.goto(stage.url());
  await page.waitForFunction('window._df && window._df.track');
  await refusal;
  await call(page, 'track', 'T');
  expect(errors).toEqual([]);
  expect(ingest.requests).toHaveLength(0);
});

test('a sandboxed frame without an origin', async () => {
  await stage.serve(aPipeline());
  stage.site.pages.set('/frame', { html: `<iframe sandbox="allow-scripts" src="/inner"></iframe>` });
  await stage.open('/frame');
  const [event] = await ingest.waitFor((all) => all.length === 1);
  expect(event!.properties!.path).toBe('/inner');
  expect(ingest.requests[0]!.headers.origin).toBe('null');
});

test('storage that is full', async () => {
  await stage.serve(aPipeline(), {
    head: `<script>try { for (let i = 0; ; i++) localStorage['junk' + i] = 'x'.repeat(100000) } catch {} try { for (let i = 0; ; i++) localStorage['crumb' + i] = 'x' } catch {}</script>`,
  });
  const page = await stage.open();
  // Calls from before the collector knows the cookie go before the page view.
  await ingest.waitFor((all) => all.length === 1);
  await call(page, 'track', 'T');
  const events = await ingest.waitFor((all) => all.length === 2);
  expect(events.map((event) => event.event ?? event.type)).toEqual(['page', 'T']);
});

test('a page that has overwritten built-ins of the history', async () => {
  await stage.serve(aPipeline(), { head: `<script>history.pushState = function () { throw new Error('theirs') }</script>` });
  const page = await stage.open();
  await ingest.waitFor((all) => all.length === 1);
  await expect(page.evaluate(() => history.pushState({}, '', '/x'))).rejects.toThrow('theirs');
  await call(page, 'track', 'T');
  await ingest.waitFor((all) => all.length === 2);
});

test('text in the configuration that looks like code stays text', async () => {
  const nasty = `"};window.hacked=1;({"</script><script>window.hacked=2</script>\u2028\${window.hacked=3}\\`;
  await stage.serve(
    aPipeline(
      {
        variables: [
          { name: nasty, source: 'js_variable', path: nasty, target: 'properties.x' },
          { name: 'cookie', source: 'cookie', path: '(.*)*$[', target: 'properties.y' },
          { name: 'selector', source: 'selector', path: nasty, target: nasty.replaceAll('.', '') },
        ],
        consent_config: { provider: 'auto', wait_ms: 100, required_category: nasty },
        vendor_syncs: { meta: { enabled: true, consent_category: nasty } },
        cross_domain: true,
      },
      { cross_domain_domains: [nasty] },
    ),
  );
  const page = await stage.open();
  const [event] = await ingest.waitFor((all) => all.length === 1);
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(event!.type).toBe('page');
});
