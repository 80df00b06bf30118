/** Pipelines, builds and a page to try them on. */
import type { Pipeline } from '@firsthand/core/config/resources.ts';
import type { BrowserContext, Page } from 'playwright-core';
import { buildCollector } from '../build/builder.ts';
import type { ClientSideInput } from '../build/features.ts';
import { Ingest } from './ingest.ts';
import { type Browsing, browse, Site } from './site.ts';

export const KEY = 'pk_7Hq2mXv9LbT4cRz8WnYd3KsF';

export function aPipeline(
  js: Partial<Pipeline['js_builder_config']> = {},
  identity: Partial<Pipeline['identity_config']> = {},
  more: Partial<Pipeline> = {},
): Pipeline {
  return {
    id: 'pl_1',
    org_id: 'org_1',
    name: 'Shop',
    slug: 'shop',
    type: 'web',
    pipeline_key: KEY,
    pipeline_key_secret_prefix: 'sk_a',
    domain_allowlist: [],
    labels: [],
    rate_limit_rps: 1000,
    challenge_token_required: false,
    parameters: {},
    config: {},
    js_builder_config: {
      script_filename: 'd.js',
      global_variable: '_df',
      delivery_method: 'cdn',
      vendor_syncs: {},
      consent_config: {},
      cross_domain: false,
      ...js,
    },
    identity_config: { cross_domain_enabled: false, cross_domain_domains: [], vendor_sync: {}, ...identity },
    enabled: true,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...more,
  };
}

const SYNC = { enabled: true, consent_category: 'marketing' };
/** Everything that can be switched on. */
export const FULL = aPipeline(
  {
    cross_domain: true,
    consent_config: { provider: 'auto', wait_ms: 500, required_category: 'analytics' },
    vendor_syncs: {
      meta: SYNC,
      google_analytics: { enabled: true, consent_category: 'analytics' },
      google_ads: SYNC,
      tiktok: SYNC,
      snapchat: SYNC,
      pinterest: SYNC,
      linkedin: SYNC,
      reddit: SYNC,
      x: SYNC,
      microsoft: SYNC,
    },
    variables: [
      { name: 'section', source: 'meta', path: 'section', target: 'properties.section' },
      { name: 'value', source: 'data_layer', path: 'ecommerce.value', target: 'properties.value' },
    ],
  },
  { cross_domain_enabled: true, cross_domain_domains: ['shop.example', 'blog.example'] },
);

export class Stage {
  readonly ingest = new Ingest();
  readonly site = new Site();
  #browsing: Browsing[] = [];
  context!: BrowserContext;

  async start(): Promise<void> {
    await Promise.all([this.ingest.start(), this.site.start()]);
    this.context = await this.browser();
  }
  async browser(preferences?: object, args?: string[]): Promise<BrowserContext> {
    const browsing = await browse(preferences, args);
    this.#browsing.push(browsing);
    return browsing.context;
  }
  async stop(): Promise<void> {
    for (const browsing of this.#browsing) await browsing.close();
    await Promise.all([this.ingest.stop(), this.site.stop()]);
  }
  /** A clean browser and clean records. Pages that are open are closed. */
  async reset(): Promise<void> {
    for (const page of this.context.pages()) await page.close();
    await this.context.clearCookies();
    this.ingest.reset();
    this.site.pages.clear();
    const blank = await this.context.newPage();
    this.site.pages.set('/clear', { html: '<p>clear</p>' });
    for (const host of ['localhost', 'shop.test', 'www.shop.test', 'blog.test']) {
      await blank.goto(`http://${host}:${this.site.port}/clear`);
      await blank.evaluate(() => localStorage.clear());
    }
    await blank.close();
  }
  /** Builds the collector, and serves it with a page around it. */
  async serve(
    pipeline: Pipeline,
    options: { head?: string; body?: string; attributes?: string; host?: string; clientSide?: ClientSideInput[]; csp?: string } = {},
  ): Promise<void> {
    const build = await buildCollector({ pipeline, client_side: options.clientSide ?? [] });
    const path = `/c/${pipeline.pipeline_key}/${pipeline.js_builder_config.script_filename}`;
    this.ingest.files.set(path, build.code);
    const src = `http://${options.host ?? 'localhost'}:${this.ingest.port}${path}`;
    const tag = `<script async src="${src}" data-pipeline-key="${pipeline.pipeline_key}" ${options.attributes ?? ''}></script>`;
    this.site.pages.set('*', {
      html: `<!doctype html><html><head><title>Shop</title>${options.head ?? ''}${tag}</head><body>${options.body ?? '<p>hello</p>'}</body></html>`,
      headers: options.csp ? { 'Content-Security-Policy': options.csp } : {},
    });
  }
  url(path = '/', host = 'localhost'): string {
    return `http://${host}:${this.site.port}${path}`;
  }
  async open(path = '/', host = 'localhost', context = this.context): Promise<Page> {
    const page = await context.newPage();
    await page.goto(this.url(path, host));
    return page;
  }
}

/** Calls a method of the collector in the page, through its queue, so that it works before and after the load. */
export async function call(page: Page, ...args: unknown[]): Promise<void> {
  await page.evaluate((list) => {
    const w = window as unknown as { _df: { push(call: unknown[]): void } };
    w._df = w._df || [];
    w._df.push(list);
  }, args);
}
