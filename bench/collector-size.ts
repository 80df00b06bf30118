/**
 * What the collector costs a page: bytes against the browser packages of its peers, bundled the same way, and main-thread
 * time of loading it and counting the first page view.
 */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildCollector } from '../packages/collector/build/builder.ts';
import { aPipeline, FULL, Stage } from '../packages/collector/test/fixtures.ts';

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
const LOADS = 21;

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

/**
 * Processor time of the page's main thread for scripts, compiling included, less the same of a page without the collector:
 * what the visitor's page pays, whatever else the machine is doing.
 */
async function cost(): Promise<BenchResult[]> {
  const stage = new Stage();
  await stage.start();
  try {
    const page = await stage.context.newPage();
    const session = await stage.context.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const spent = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
      return (of('ScriptDuration') + of('V8CompileDuration')) * 1000;
    };
    const median = async (settled: (before: number) => Promise<unknown>) => {
      const times: number[] = [];
      for (let i = 0; i < LOADS; i++) {
        await page.goto('about:blank');
        const before = await spent();
        const requests = stage.ingest.requests.length;
        await page.goto(stage.url(`/?load=${i}`));
        await settled(requests);
        await page.waitForTimeout(150);
        times.push((await spent()) - before);
      }
      return times.sort((a, b) => a - b)[LOADS >> 1]!;
    };
    stage.site.pages.set('*', { html: '<!doctype html><title>Shop</title><p>hello</p>' });
    const without = await median(async () => undefined);
    const measure = async (name: string, pipeline: typeof FULL): Promise<BenchResult> => {
      await stage.serve(pipeline, { attributes: 'data-wait-ms="0"' });
      const ms = (await median((before) => stage.ingest.waitFor(() => stage.ingest.requests.length > before))) - without;
      return { name, value: Math.round(ms * 100) / 100, unit: 'ms', floor: MAX_MS, ok: ms <= MAX_MS };
    };
    return [await measure('load and first page view, core', aPipeline()), await measure('load and first page view, everything on', FULL)];
  } finally {
    await stage.stop();
  }
}

export async function run(): Promise<BenchResult[]> {
  return [...(await sizes()), ...(await cost())];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.table(await run());
