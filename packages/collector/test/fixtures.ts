/** Pipelines, builds, and a page that uses them. */
import { JS_BUILDER_DEFAULTS } from '@firsthand/core/config/collector-settings.ts';
import { IDENTITY_DEFAULTS, type Pipeline, pipeline as resource } from '@firsthand/core/config/pipeline.ts';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { buildCollector } from '../build/builder.ts';
import type { ClientSideInput } from '../build/features.ts';
import { Ingest } from './ingest.ts';
import { bundledApp } from './npm-app.ts';
import { type Browsing, browse, browseWith, Site } from './site.ts';

/** As long and random as real ones. */
export const KEY = 'pk_w6en38stw5y5b7djn79jnkactwpdvcft';

export function aPipeline(
  js: Partial<Pipeline['js_builder_config']> = {},
  identity: Partial<Pipeline['identity_config']> = {},
  more: Partial<Pipeline> = {},
): Pipeline {
  return resource.sample({
    id: 'pl_1',
    org_id: 'org_1',
    name: 'Shop',
    slug: 'shop',
    pipeline_key: KEY,
    js_builder_config: { ...JS_BUILDER_DEFAULTS, ...js },
    identity_config: { ...IDENTITY_DEFAULTS, ...identity },
    ...more,
  });
}

const SYNC = { enabled: true, consent_category: 'marketing' };
/** All features enabled. */
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

/** A cache, because most tests need the same few builds. */
const builds = new Map<string, Promise<{ code: string }>>();
function built(pipeline: Pipeline, clientSide: ClientSideInput[]): Promise<{ code: string }> {
  const input = JSON.stringify([pipeline, clientSide]);
  if (!builds.has(input))
    builds.set(input, process.env.COLLECTOR === 'npm' ? bundledApp(pipeline) : buildCollector({ pipeline, client_side: clientSide }));
  return builds.get(input)!;
}

export class Stage {
  readonly ingest = new Ingest();
  readonly site = new Site();
  #browsing: Browsing | undefined;
  #others: { close(): Promise<void> }[] = [];

  async start(): Promise<void> {
    await Promise.all([this.ingest.start(), this.site.start()]);
    this.#browsing = await browse();
  }
  get context(): BrowserContext {
    return this.#browsing!.context;
  }
  /** A new visitor. */
  async another(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await this.#browsing!.another(options);
    this.#others.push(context);
    return context;
  }
  async browserWith(preferences: object): Promise<BrowserContext> {
    const browsing = await browseWith(preferences);
    this.#others.push(browsing);
    return browsing.context;
  }
  async stop(): Promise<void> {
    for (const other of this.#others.splice(0)) await other.close();
    await this.#browsing?.close();
    await Promise.all([this.ingest.stop(), this.site.stop()]);
  }
  /** A new visitor and empty records. Closes open pages; their late requests reach no server. */
  async reset(): Promise<void> {
    const before = this.context;
    await this.ingest.reset();
    this.site.pages.clear();
    this.#browsing!.context = await this.#browsing!.another();
    for (const context of [before, ...this.#others.splice(0)]) await context.close();
  }
  /** Builds the collector and serves it with a page that loads it. */
  async serve(
    pipeline: Pipeline,
    options: { head?: string; body?: string; attributes?: string; host?: string; clientSide?: ClientSideInput[]; csp?: string } = {},
  ): Promise<void> {
    const build = await built(pipeline, options.clientSide ?? []);
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

/** Whether a request is in flight or its response not handled yet, or the page marks its events as its own. */
export const isSending = (page: Page): Promise<boolean> =>
  page.evaluate(
    () =>
      (window as unknown as { openRequests: number }).openRequests > 0 ||
      Object.keys(localStorage).some((key) => key.startsWith('_df_l') && +localStorage[key] > Date.now()),
  );

/** Calls a method of the collector in the page, through its queue, so that it works before and after the load. */
export async function call(page: Page, ...args: unknown[]): Promise<void> {
  await page.evaluate((list) => {
    const w = window as unknown as { _df: { push(call: unknown[]): void } };
    w._df = w._df || [];
    w._df.push(list);
  }, args);
}
