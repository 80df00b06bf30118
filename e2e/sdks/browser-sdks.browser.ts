/** Published browser SDKs in Chromium, pointed to the service by host and key alone. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Browsing, browse, Site } from '../../packages/collector/test/site.ts';
import { stage } from '../harness/stage.ts';
import { ANONYMOUS, argumentCalls, type Call, jitsuCalls, rudderStackCalls } from './calls.ts';
import { playStory, type Sdk } from './story.ts';

let browsing: Browsing;
const site = new Site();
beforeAll(async () => {
  await site.start();
  browsing = await browse();
});
afterAll(async () => {
  await browsing?.close();
  await site.stop();
});

/** The page: `analytics` has the calls, `failed` says that the last one was not sent. The SDKs stamp no call before they are ready. */
interface Calls {
  ready: Promise<unknown>;
  analytics: Record<string, (...args: unknown[]) => unknown>;
  failed: boolean;
}
interface BrowserSdk extends Omit<Sdk, 'open' | 'gzip'> {
  /** A module that sets `analytics` and `ready`. */
  module(address: { url: string; key: string }): string;
}

function segment(options: object): BrowserSdk['module'] {
  return ({ url, key }) => `import { AnalyticsBrowser } from '@segment/analytics-next';
    window.analytics = AnalyticsBrowser.load({ writeKey: '${key}', cdnURL: '${url}' }, ${JSON.stringify(options)});
    window.analytics.setAnonymousId('${ANONYMOUS}');
    window.ready = window.analytics.ready();`;
}
const BATCHES = { strategy: 'batching', config: { size: 2, timeout: 50 } };

const SDKS: BrowserSdk[] = [
  { name: '@segment/analytics-next', calls: argumentCalls, retries: true, module: segment({}) },
  {
    name: '@segment/analytics-next in batches',
    calls: argumentCalls,
    retries: true,
    module: segment({ integrations: { 'Segment.io': { deliveryStrategy: BATCHES } } }),
  },
  {
    name: '@rudderstack/analytics-js',
    calls: rudderStackCalls,
    retries: true,
    // The build with its plugins inside: the other loads them from the vendor's servers.
    module: ({ url, key }) => `import { RudderAnalytics } from '@rudderstack/analytics-js/bundled';
      window.analytics = new RudderAnalytics();
      window.analytics.setAnonymousId('${ANONYMOUS}');
      window.analytics.load('${key}', '${url}', { configUrl: '${url}' });
      window.ready = new Promise((done) => window.analytics.ready(done));`,
  },
  {
    name: '@jitsu/js in the browser',
    calls: jitsuCalls,
    retries: false,
    module: ({ url, key }) => `import { jitsuAnalytics } from '@jitsu/js';
      const errorPolicy = () => { window.failed = true; };
      window.analytics = jitsuAnalytics({ writeKey: '${key}:browser', host: '${url}', errorPolicy });
      window.analytics.setAnonymousId('${ANONYMOUS}');
      window.ready = Promise.resolve();`,
  },
];

async function openPage(sdk: BrowserSdk, address: { url: string; key: string }): Promise<Page> {
  const bundle = await build({
    stdin: { contents: sdk.module(address), resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    format: 'iife',
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'silent',
  });
  const script = (bundle.outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script');
  const path = `/${sdk.name.replaceAll(/\W+/g, '-')}`;
  site.pages.set(path, { html: `<!doctype html><title>Shop</title><script>${script}</script>` });
  const page = await (await browsing.another()).newPage();
  await page.goto(`http://shop.test:${site.port}${path}`);
  await page.evaluate(async () => void (await (window as unknown as Calls).ready));
  return page;
}

/** An SDK that retries is not awaited: its promise may wait for the answer. */
async function invoke(page: Page, { method, args }: Call, retries: boolean): Promise<void> {
  await page.evaluate(
    async ([name, values, sdkRetries]) => {
      const calls = window as unknown as Calls;
      do {
        calls.failed = false;
        const sent = calls.analytics[name]!(...values);
        if (!sdkRetries) await sent;
      } while (calls.failed);
    },
    [method, args, retries] as const,
  );
}

describe('published browser SDKs', async () => {
  const scene = await stage();
  test.concurrent.each(SDKS)('$name', (sdk) =>
    playStory(scene, {
      ...sdk,
      gzip: false,
      async open(address) {
        const page = await openPage(sdk, address);
        return { call: (call) => invoke(page, call, sdk.retries), close: () => page.context().close() };
      },
    }));
});
