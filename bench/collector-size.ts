/**
 * What the collector costs a page: bytes against the browser packages of its peers, bundled the same way, and main-thread
 * time of loading it and counting the first page view.
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { buildCollector } from '../packages/collector/build/builder.ts';
import { aPipeline, FULL } from '../packages/collector/test/fixtures.ts';
import { Ingest } from '../packages/collector/test/ingest.ts';
import { launchOptions, Site } from '../packages/collector/test/site.ts';

export interface BenchResult {
  name: string;
  value: number;
  unit: string;
  floor?: number;
  ok?: boolean;
}

const CORE_MAX_BYTES = 3000;
const FULL_MAX_BYTES = 6000;
const MAX_MS = 5;
const LOADS = 31;
/** Before it counts: the browser's own caches fill. */
const WARM_LOADS = 3;
/** After the last thing that is waited for, so that the answer is dealt with. */
const SETTLE_MS = 150;
/** As little as tells the tasks and the page: every event that is traced costs time itself. */
const CATEGORIES = ['toplevel', 'devtools.timeline'];
const PAGE = (tag: string) => `<!doctype html><html><head><title>Shop</title>${tag}</head><body><p>hello</p></body></html>`;

/** Smallest useful program of each: load, name the server, count a page. */
const PEERS: Record<string, string> = {
  '@segment/analytics-next': `import { AnalyticsBrowser } from '@segment/analytics-next'; AnalyticsBrowser.load({ writeKey: 'k' }).page();`,
  '@rudderstack/analytics-js': `import { RudderAnalytics } from '@rudderstack/analytics-js'; const r = new RudderAnalytics(); r.load('k', 'https://x.example'); r.page();`,
  '@jitsu/js': `import { jitsuAnalytics } from '@jitsu/js'; jitsuAnalytics({ host: 'https://x.example', writeKey: 'k' }).page();`,
  '@snowplow/browser-tracker': `import { newTracker, trackPageView } from '@snowplow/browser-tracker'; newTracker('sp', 'https://x.example', { appId: 'a' }); trackPageView();`,
};

const gzipped = (code: string | Uint8Array) => gzipSync(code, { level: 9 }).length;

async function sizes(): Promise<BenchResult[]> {
  const collector = async (name: string, pipeline: typeof FULL, max: number): Promise<BenchResult> => {
    const value = gzipped((await buildCollector({ pipeline, client_side: [] })).code);
    return { name, value, unit: 'bytes gzip', floor: max, ok: value <= max };
  };
  const out = [
    await collector('collector, core', aPipeline(), CORE_MAX_BYTES),
    await collector('collector, everything on', FULL, FULL_MAX_BYTES),
  ];
  const { build, stop } = await import('esbuild');
  try {
    for (const [name, contents] of Object.entries(PEERS)) {
      const result = await build({
        stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
        bundle: true,
        minify: true,
        format: 'iife',
        platform: 'browser',
        target: ['es2020'],
        legalComments: 'none',
        write: false,
        logLevel: 'silent',
        define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
      });
      out.push({ name, value: gzipped(result.outputFiles[0]!.contents), unit: 'bytes gzip' });
    }
  } finally {
    await stop();
  }
  return out;
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds by the clock on the wall, and of the processor. */
  dur?: number;
  tdur?: number;
  args: { data?: { url?: string } };
}

interface Spent {
  wall: number;
  processor: number;
}
/** Milliseconds of every task that the main thread of this page ran while the trace was taken. */
function mainThreadMs(trace: Buffer, url: string): Spent {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const commit = traceEvents.find((event) => event.name === 'CommitLoad' && event.args.data?.url === url);
  if (!commit) throw new Error('The trace knows nothing of the page');
  const tasks = traceEvents.filter(
    (event) => event.name.endsWith('RunTask') && event.ph === 'X' && event.pid === commit.pid && event.tid === commit.tid,
  );
  const sum = (of: 'dur' | 'tdur') => tasks.reduce((total, task) => total + (task[of] ?? 0), 0) / 1000;
  return { wall: sum('dur'), processor: sum('tdur') };
}

/**
 * What the visitor's page pays for the collector: wall-clock time of its main thread from the navigation until the answer to the
 * first page view was dealt with, by Chromium's own trace, less the same of a page without the collector. Every load is that
 * of a new visitor; the pages take turns, so that a machine that slows down does so for all of them.
 */
async function cost(): Promise<BenchResult[]> {
  const ingest = await new Ingest().start();
  const site = await new Site().start();
  const browser = await chromium.launch(launchOptions());
  const pages: { name: string; path: string; loads: Spent[] }[] = [{ name: 'without', path: '/without', loads: [] }];
  site.pages.set('/before', { html: '<!doctype html><title>Before</title>' });
  site.pages.set('/without', { html: PAGE('') });
  for (const [name, pipeline] of [['core', aPipeline()] as const, ['everything on', FULL] as const]) {
    const path = `/${name.replace(' ', '-')}`;
    ingest.files.set(`${path}.js`, (await buildCollector({ pipeline, client_side: [] })).code);
    const tag = `<script async src="http://localhost:${ingest.port}${path}.js" data-pipeline-key="${pipeline.pipeline_key}" data-wait-ms="0"></script>`;
    site.pages.set(path, { html: PAGE(tag) });
    pages.push({ name, path, loads: [] });
  }
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    const address = (path: string) => `http://localhost:${site.port}${path}`;
    for (let load = -WARM_LOADS; load < LOADS; load++) {
      for (const { path, loads } of pages) {
        await page.goto(address('/before'));
        await page.evaluate(() => localStorage.clear());
        await context.clearCookies();
        const requests = ingest.requests.length;
        const url = address(`${path}?load=${load}`);
        await browser.startTracing(page, { categories: CATEGORIES });
        await page.goto(url);
        if (path !== '/without') await ingest.waitFor(() => ingest.requests.length > requests, 'the page view');
        await page.waitForTimeout(SETTLE_MS);
        const spent = mainThreadMs(await browser.stopTracing(), url);
        if (load >= 0) loads.push(spent);
      }
    }
  } finally {
    await browser.close();
    await Promise.all([ingest.stop(), site.stop()]);
  }
  const median = (loads: Spent[], of: keyof Spent) => loads.map((spent) => spent[of]).sort((a, b) => a - b)[loads.length >> 1]!;
  const [without, ...measured] = pages;
  return measured.flatMap(({ name, loads }) => {
    const cost = (of: keyof Spent) => Math.round((median(loads, of) - median(without!.loads, of)) * 100) / 100;
    const title = `load and first page view, ${name}`;
    return [
      { name: title, value: cost('wall'), unit: 'ms of the main thread', floor: MAX_MS, ok: cost('wall') <= MAX_MS },
      // Much less than the above says that the machine was busy with other things.
      { name: title, value: cost('processor'), unit: 'ms of the processor' },
    ];
  });
}

export async function run(): Promise<BenchResult[]> {
  return [...(await sizes()), ...(await cost())];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());
