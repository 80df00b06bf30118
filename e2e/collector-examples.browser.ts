/** The collector's examples in Chromium: plain HTML, and React and Vue applications that Vite builds with the npm package. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import vue from '@vitejs/plugin-vue';
import { build, type Plugin } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildCollector } from '../packages/collector/build/builder.ts';
import { buildNpmPackage } from '../packages/collector/npm/build.ts';
import { aPipeline, KEY, Stage } from '../packages/collector/test/fixtures.ts';

const EXAMPLES = join(import.meta.dirname, '../examples/collector');
const npmPackage = mkdtempSync(join(tmpdir(), 'firsthand-examples-'));
const stage = new Stage();
beforeAll(async () => {
  await buildNpmPackage(npmPackage);
  await stage.start();
});
afterAll(async () => {
  await stage.stop();
  rmSync(npmPackage, { recursive: true, force: true });
});

/** What a reader of the examples replaces. */
const filledIn = (text: string) =>
  text.replaceAll('https://events.example.com', `http://localhost:${stage.ingest.port}`).replaceAll('pk_YOUR_KEY', KEY);

/** Serves the built application; returns its page. */
async function builtApp(folder: string, entry: string, plugins: Plugin[] = []): Promise<string> {
  const example: Plugin = {
    name: 'the example',
    resolveId: (id) => (id === 'virtual:entry.js' ? join(EXAMPLES, folder, 'entry.js') : null),
    load: (id) => (id === join(EXAMPLES, folder, 'entry.js') ? entry : null),
    transform: (code, id) => (id.endsWith('collector.ts') ? filledIn(code) : null),
  };
  const built = await build({
    configFile: false,
    root: join(EXAMPLES, folder),
    logLevel: 'silent',
    resolve: { alias: { '@firsthand/collector': join(npmPackage, 'index.js') } },
    plugins: [example, ...plugins],
    build: { write: false, minify: false, modulePreload: false, rolldownOptions: { input: 'virtual:entry.js' } },
  });
  if (!('output' in built)) throw new Error('the build made no bundle');
  for (const file of built.output)
    if (file.type === 'chunk')
      stage.site.pages.set(`/${file.fileName}`, { html: file.code, headers: { 'Content-Type': 'text/javascript' } });
  const start = built.output.find((file) => file.type === 'chunk' && file.isEntry)?.fileName;
  return `<!doctype html><title>Shop</title><div id="app"></div><script type="module" src="/${start}"></script>`;
}

const APPS: [name: string, page: () => Promise<string>][] = [
  [
    'plain HTML',
    async () => {
      stage.ingest.files.set(`/c/${KEY}/d.js`, (await buildCollector({ pipeline: aPipeline(), client_side: [] })).code);
      return filledIn(readFileSync(join(EXAMPLES, 'plain.html'), 'utf8'));
    },
  ],
  [
    'React',
    () =>
      builtApp(
        'react',
        `import { createElement } from 'react';
         import { createRoot } from 'react-dom/client';
         import { BuyButton } from './buy-button.tsx';
         import { CollectorProvider } from './collector-provider.tsx';
         const order = { id: '7', total: 42 };
         createRoot(document.getElementById('app')).render([
           createElement(CollectorProvider, { key: 1 }), createElement(BuyButton, { key: 2, order })]);`,
      ),
  ],
  ['Vue', () => builtApp('vue', "import './main.ts';", [vue()])],
];

test.each(APPS)('%s: a page view and an order', async (_name, pageOf) => {
  await stage.reset();
  stage.site.pages.set('/', { html: await pageOf() });
  const page = await stage.open('/');
  await page.getByRole('button', { name: 'Buy' }).click();
  const events = await stage.ingest.waitFor((accepted) => accepted.length >= 2);
  expect(events.filter(({ type }) => type === 'page')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'track')).toMatchObject([
    { event: 'Order Completed', properties: { order_id: '7', total: 42, currency: 'EUR' }, anonymousId: events[0]?.anonymousId },
  ]);
  expect(stage.ingest.requests[0]?.headers.origin).toBe(new URL(stage.url()).origin);
});
