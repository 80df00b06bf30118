import { createHash } from 'node:crypto';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browsing, browse, Site } from '../packages/collector/test/site.ts';
import { type Client, type Loose, pipelineTo, signIn, until } from './harness/client.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { type Service, startService } from './harness/service.ts';

describe('a page with the snippet', () => {
  let service: Service;
  let client: Client;
  let receiver: Receiver;
  let site: Site;
  let browsing: Browsing;
  beforeAll(async () => {
    service = await startService();
    client = await signIn(service);
    receiver = await startReceiver();
    site = await new Site().start();
    browsing = await browse();
  });
  afterAll(async () => {
    await browsing?.close();
    await site?.stop();
    await service?.stop();
    await receiver?.close();
  });

  async function built(hook: string): Promise<{ pipeline: Loose; status: Loose }> {
    const { pipeline } = await pipelineTo(client, `${receiver.url}${hook}`);
    expect(await client.post(`/pipelines/${pipeline.id}/collector/build`)).toEqual({ status: 'building', pipeline_id: pipeline.id });
    const status = await until('the build', async () => {
      const now = await client.get(`/pipelines/${pipeline.id}/collector/status`);
      return now.status === 'ready' && now;
    });
    return { pipeline, status };
  }
  /** A shop on another origin whose page has the tag and makes these calls before the script has loaded. */
  async function open(tag: string, calls: string, context: BrowserContext = browsing.context): Promise<{ page: Page; errors: string[] }> {
    const html = `<!doctype html><html><head><title>Shoes</title><script>window._df = window._df || [];${calls}</script>${tag}</head><body>Hello</body></html>`;
    site.pages.set('*', { html });
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on(
      'console',
      (message) => message.type() === 'error' && !message.location().url.endsWith('favicon.ico') && errors.push(message.text()),
    );
    await page.goto(`http://shop.test:${site.port}/shoes?utm_source=news`);
    return { page, errors };
  }
  const eventsOf = (hook: string) => receiver.requests.filter(({ path }) => path === hook).map(({ body }) => JSON.parse(body) as Loose);

  test('page view, track and identify reach the webhook as canonical events of one visitor', async () => {
    const hook = '/visitor';
    const { pipeline } = await built(hook);
    const { snippet, url } = await client.get(`/pipelines/${pipeline.id}/collector/snippet`);
    expect(url).toBe(`${service.url}/c/${pipeline.pipeline_key}/d.js`);
    const { page, errors } = await open(
      snippet,
      `_df.push(['track', 'Product Viewed', { product_id: 'sku-1', price: 49.5 }]); _df.push(['identify', 'user-7', { email: 'ada@example.com' }]);`,
    );
    await until('three events', () => eventsOf(hook).length >= 3);
    const events = eventsOf(hook);
    expect(events).toHaveLength(3);
    const byType = Object.fromEntries(events.map((event) => [event.type, event]));
    expect(byType.page).toMatchObject({
      context: {
        page: { url: `http://shop.test:${site.port}/shoes?utm_source=news`, title: 'Shoes' },
        campaign: { source: 'news' },
        user_agent: expect.stringContaining('Chrome'),
        locale: expect.any(String),
      },
    });
    expect(byType.track).toMatchObject({ event: 'Product Viewed', properties: { product_id: 'sku-1', price: 49.5 } });
    expect(byType.identify).toMatchObject({ user_id: 'user-7', traits: { email: 'ada@example.com' } });
    const visitors = new Set(events.map((event) => event.anonymous_id));
    expect([...visitors]).toEqual([expect.stringMatching(/^[\w-]{8,}$/)]);
    expect(new Set(events.map((event) => event.event_id)).size).toBe(3);

    // The next page has the same visitor, already identified.
    const address = `http://shop.test:${site.port}/checkout`;
    await page.goto(address);
    const isNext = (event: Loose) => event.type === 'page' && event.context.page!.url === address;
    const next = await until('the next page view', () => eventsOf(hook).find(isNext));
    expect(next).toMatchObject({ user_id: 'user-7', anonymous_id: [...visitors][0] });
    expect(errors).toEqual([]);
    await page.close();
  });

  test('a pinned tag loads only the build with its integrity hash, also after a newer build', async () => {
    const hook = '/pinned';
    const { pipeline, status } = await built(hook);
    const pinned = await client.get(`/pipelines/${pipeline.id}/collector/snippet?pinned=true`);
    expect(pinned.url).toBe(`${service.url}/c/${pipeline.pipeline_key}/${status.version_hash}/d.js`);
    const before = await (await fetch(pinned.url)).text();
    expect(pinned.integrity).toBe(`sha384-${createHash('sha384').update(before).digest('base64')}`);
    await client.put(`/pipelines/${pipeline.id}`, { js_builder_config: { global_variable: 'renamed' } });
    await client.post(`/pipelines/${pipeline.id}/collector/build`);
    await until('the second build', async () => {
      const now = await client.get(`/pipelines/${pipeline.id}/collector/status`);
      return now.status === 'ready' && now.version_hash !== status.version_hash;
    });
    expect(await (await fetch(pinned.url)).text()).toBe(before);
    const good = await open(pinned.snippet, `_df.push(['track', 'Pinned'])`);
    await until('the pinned build', () => eventsOf(hook).some((event) => event.event === 'Pinned'));
    expect(good.errors).toEqual([]);
    await good.page.close();

    const wrong = pinned.snippet.replace(/integrity="sha384-.{4}/, 'integrity="sha384-AAAA');
    const bad = await open(wrong, `_df.push(['track', 'Tampered'])`);
    await until('the refusal', () => bad.errors.some((text) => text.includes('integrity')));
    expect(eventsOf(hook).some((event) => event.event === 'Tampered')).toBe(false);
    await bad.page.close();
  });
});
