/** `@segment/analytics-next` in Chromium with only its host changed: every call type, compared field by field. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Browsing, browse, Site } from '../packages/collector/test/site.ts';
import { aPipeline, aSnapshot, type Harness, startIngest } from '../packages/server/src/roles/ingest/testing/harness.ts';

let harness: Harness;
let site: Site;
let browsing: Browsing;
let script: string;
beforeAll(async () => {
  harness = await startIngest(aSnapshot([aPipeline({ domain_allowlist: ['shop.test'] })]));
  site = await new Site().start();
  browsing = await browse();
  const bundle = await build({
    stdin: {
      contents: "import { AnalyticsBrowser } from '@segment/analytics-next'; window.AnalyticsBrowser = AnalyticsBrowser;",
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    format: 'iife',
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  });
  script = bundle.outputFiles[0]!.text.replaceAll('</script', '<\\/script');
});
afterAll(async () => {
  await browsing?.close();
  await site?.stop();
  await harness?.close();
});

async function open(strategy: 'standard' | 'batching'): Promise<Page> {
  const settings = {
    apiKey: 'pk_web',
    apiHost: `127.0.0.1:${harness.port}/v1`,
    protocol: 'http',
    ...(strategy === 'batching' ? { deliveryStrategy: { strategy: 'batching', config: { size: 1, timeout: 50 } } } : {}),
  };
  const cdnSettings = { integrations: { 'Segment.io': settings } };
  site.pages.set('/', {
    html: `<!doctype html><title>Shop</title><script>${script}</script><script>
      localStorage.clear();
      window.analytics = AnalyticsBrowser.load({ writeKey: 'pk_web', cdnSettings: ${JSON.stringify(cdnSettings)} });
      window.analytics.setAnonymousId('anon-1');</script>`,
  });
  await browsing.context.clearCookies();
  const page = await browsing.context.newPage();
  await page.goto(`http://shop.test:${site.port}/?utm_source=news`);
  return page;
}

const CALLS: [call: string, args: unknown[], event: Record<string, unknown>][] = [
  [
    'track',
    ['Order Completed', { total: 42, products: [{ sku: 'a' }] }],
    { type: 'track', event: 'Order Completed', properties: { total: 42, products: [{ sku: 'a' }] } },
  ],
  ['page', ['Docs', 'Home', { section: 's' }], { type: 'page', name: 'Home' }],
  ['screen', ['Cart', { items: 2 }], { type: 'page', name: 'Cart', properties: { items: 2 } }],
  ['group', ['g1', { plan: 'pro' }], { type: 'group', group_id: 'g1', traits: { plan: 'pro' } }],
  // Before the identify: after it, this SDK sends the known user id in an alias instead of the given one.
  ['alias', ['u2', 'u0'], { type: 'identify', user_id: 'u2', context: { previous_id: 'u0' } }],
  ['identify', ['u1', { email: 'a@b.test' }], { type: 'identify', user_id: 'u1', traits: { email: 'a@b.test' } }],
];

test.each(['standard', 'batching'] as const)('every call type, %s delivery', async (strategy) => {
  const page = await open(strategy);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  for (const [call, args, expected] of CALLS) {
    const before = new Set((await harness.stored()).map((each) => each.event.event_id));
    await page.evaluate(
      async ([name, values]) => {
        const { analytics } = window as unknown as { analytics: Record<string, (...args: unknown[]) => Promise<unknown>> };
        await analytics[name]!(...values);
      },
      [call, args] as [string, unknown[]],
    );
    await expect.poll(async () => (await harness.stored()).filter((each) => !before.has(each.event.event_id)).length).toBe(1);
    const { event, envelope } = (await harness.stored()).find((each) => !before.has(each.event.event_id))!;
    expect(event, call).toMatchObject({ ...expected, anonymous_id: 'anon-1' });
    expect(event.event_id).toMatch(/^ajs-next-/);
    expect(Math.abs(Date.parse(event.timestamp) - Date.now())).toBeLessThan(300_000);
    expect(event.context).toMatchObject({
      page: { url: `http://shop.test:${site.port}/?utm_source=news`, title: 'Shop' },
      library: { name: expect.stringMatching(/analytics/) },
    });
    expect(envelope).toMatchObject({ source: 'browser', ip: '127.0.0.1', user_agent: expect.stringContaining('Chrome') });
  }
  expect(errors).toEqual([]);
  await page.close();
});
