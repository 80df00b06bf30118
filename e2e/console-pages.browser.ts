/**
 * Every page of the console, empty and on the demo's shop, in both themes: axe finds nothing, the browser's console has no errors, and
 * nothing is wider than a telephone. With PICTURES=yes (`npm run test:console`) it also writes a picture of each page to
 * `data/screenshots`, in both themes at 1440 and 390 px.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Browsing, browse } from '../packages/collector/test/site.ts';
import { firstLoad, soonAfter } from '../packages/console/first-load.ts';
import { signIn, writeCode } from './harness/console.ts';
import { type DemoShop, openDemoShop } from './harness/demo-shop.ts';
import { type Service, startService } from './harness/service.ts';

const SCREENSHOTS = join(import.meta.dirname, '../data/screenshots');
/** The demo drops events of bots, and of Node's own user agent. */
const BROWSER = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';
const THEMES = ['light', 'dark'] as const;
const PICTURES = process.env.PICTURES === 'yes';
/** A theme changes colours only: the other rules of axe find the same in both. */
const RULES = { light: undefined, dark: ['color-contrast'] };

let service: Service;
let shop: DemoShop;
let browsing: Browsing;
let page: Page;
const errors: string[] = [];

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  [service, browsing] = await Promise.all([startService(), browse('shell')]);
  page = await (await browsing.another({ viewport: { width: 1440, height: 900 } })).newPage();
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // Without a session the first refresh is answered 401, which Chromium reports.
    if (message.type() === 'error' && !message.text().includes('401')) errors.push(message.text());
  });
});
afterAll(async () => {
  await browsing?.close();
  shop?.close();
  await service?.stop();
});

/** As the system's theme changes: the console follows it, and so does `/docs`. */
async function setTheme(theme: (typeof THEMES)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
  await page.waitForFunction(
    (scheme: string) => [scheme, null].includes(document.documentElement.getAttribute('data-mantine-color-scheme')),
    theme,
  );
}
/** Of the whole page. What covers it is as large as the screen. */
async function picture(name: string): Promise<void> {
  if (!PICTURES) return;
  // axe may leave the page scrolled, and then the top bar stands in the middle of the picture.
  await page.evaluate(() => scrollTo(0, 0));
  const fullPage = (await page.locator('[role=dialog], [aria-label=Menu][aria-expanded=true]').count()) === 0;
  // Rows below the screen are drawn too.
  const style = '* { content-visibility: visible !important; }';
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage, style });
}

/** Both themes and both widths of what the page shows now. */
async function inspect(name: string, shown: string): Promise<void> {
  await page.getByText(shown).first().waitFor();
  await page.waitForFunction(() => (window as unknown as { openRequests: number }).openRequests === 0);
  for (const theme of THEMES) {
    await setTheme(theme);
    await picture(`${name}-${theme}-1440`);
    await expectNoViolations(theme);
  }
  await expectToFitTelephone(async () => {
    for (const theme of PICTURES ? THEMES : []) {
      await setTheme(theme);
      await picture(`${name}-${theme}-390`);
    }
  });
  expect(errors).toEqual([]);
}

async function expectNoViolations(theme: (typeof THEMES)[number]): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(async (rules) => {
    // The page behind a dialog is looked at by its own address.
    const part = document.querySelector('[role=dialog]') ?? document;
    const options = { resultTypes: ['violations' as const], ...(rules ? { runOnly: rules } : {}) };
    return (window as unknown as { axe: typeof axe }).axe.run(part, options);
  }, RULES[theme]);
  expect(
    violations.map(({ id, nodes }) => `${theme} ${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`),
  ).toEqual([]);
}

async function expectToFitTelephone(look = async () => {}): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await look();
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await expect.poll(width, { message: 'no wider than the screen' }).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1440, height: 900 });
}

describe('an empty installation', () => {
  test('sign-in', async () => {
    await page.goto(service.url);
    await inspect('sign-in', 'Sign in to Firsthand');
  });

  test('first run', async () => {
    await signIn(page, service.url);
    await page.getByLabel('Name of the pipeline').waitFor();
    await page.keyboard.type('Web shop');
    await page.keyboard.press('Enter');
    await page.getByLabel('Website snippet').getByText('<script async').waitFor();
    await inspect('first-run', 'Waiting for the first event');
    await page.getByRole('button', { name: 'Skip the rest' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
  });

  test.each([
    ['events-empty', '/events', 'No events'],
    ['dead-letters-empty', '/dead-letters', 'Nothing failed for good'],
    ['sources-empty', '/sources', 'No sources'],
  ])('%s', async (name, path, shown) => {
    await page.goto(`${service.url}${path}`);
    await inspect(name, shown);
  });
});

let ids: { template: string; event: string; letter: string; source: string; alert: string; entry: string; long: string };
const pipeline = (tab: string) => () => `/pipelines/${shop.pipeline_id}?tab=${tab}`;
const PAGES: [name: string, path: () => string, shown: string][] = [
  ['home', () => '/', 'As a table'],
  ['pipelines', () => '/pipelines', 'Demo shop'],
  ['new-pipeline', () => '/pipelines?new=yes', 'Create'],
  ['pipeline-overview', pipeline('overview'), 'Consent · bots'],
  ['pipeline-snippets', () => `/pipelines/${shop.pipeline_id}?snippet=curl`, 'Send a sample order'],
  ['pipeline-integrations', pipeline('integrations'), 'Google Analytics 4'],
  ['pipeline-transformations', pipeline('transformations'), 'Sample event'],
  ['pipeline-tracking-plan', pipeline('tracking-plan'), 'Order Completed'],
  ['pipeline-consent', pipeline('consent'), 'A visitor who agrees to'],
  ['pipeline-collector', pipeline('collector'), 'Consent tool'],
  ['pipeline-settings', pipeline('settings'), 'Domains'],
  ['catalog', () => '/catalog', 'Google Analytics 4'],
  ['vendor', () => '/catalog/google_analytics_4', 'Sample request'],
  ['install', () => '/catalog/google_analytics_4?new=yes', 'Measurement ID'],
  ['events', () => '/events', 'Integrations'],
  ['event', () => `/events?selected=${ids.event}`, 'What happened'],
  ['failed-event', () => '/events?delivery=dead_lettered&selected=a-rejected-order', 'that failed this way'],
  ['dead-letters', () => '/dead-letters', 'Replay past events'],
  ['dead-letter', () => `/dead-letters?selected=${ids.letter}`, 'Replay past events'],
  ['replay-history', () => '/dead-letters?tab=history', 'Only these events'],
  ['mapping', () => `/templates/${ids.template}`, 'Everything else'],
  ['mapping-history', () => `/templates/${ids.template}?compare=1,draft`, 'Compare'],
  ['mapping-pins', () => `/templates/${ids.template}?pins=yes`, 'Use in another pipeline'],
  ['sources', () => '/sources', 'Shopify'],
  ['source', () => `/sources?selected=${ids.source}`, 'Try a payload'],
  ['new-source', () => '/sources?new=yes', 'Signing secret'],
  ['data-layer', () => '/data-layer', 'Effect on an event'],
  ['team', () => '/team', 'Add a user'],
  ['new-user', () => '/team?new=yes', 'First password'],
  ['api-tokens', () => '/team?tab=tokens', 'New token'],
  ['own-sign-in', () => '/team?tab=sign-in', 'Two-step sign-in'],
  ['audit', () => '/audit', 'Verify the chain'],
  ['audit-entry', () => `/audit?selected=${ids.entry}`, 'Verify the chain'],
  ['settings', () => '/settings', 'Retention'],
  ['new-alert', () => '/settings?new=yes', 'Within (minutes)'],
  ['alert', () => `/settings?alert=${ids.alert}`, 'Change the alert'],
  ['try', () => '/try', 'Nothing was sent yet'],
  ['long-words', () => `/pipelines/${ids.long}?tab=integrations`, 'One real request'],
  ['not-found', () => '/nowhere', 'There is no such page'],
];

describe('every page of the console', () => {
  beforeAll(async () => {
    shop = await openDemoShop(service, 12);
    ids = await fill(shop);
    await page.goto(service.url);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
  });
  test('are all looked at: each address of the router is among them', () => {
    const router = readFileSync(join(import.meta.dirname, '../packages/console/src/router.tsx'), 'utf8');
    const routes = [...router.matchAll(/ path: '([^']+)'/g)].map(([, route = '']) => route);
    const seen = PAGES.map(([, path]) => new URL(path(), service.url).pathname);
    const isSeen = (route: string) => seen.some((path) => new RegExp(`^${route.replaceAll(/\$\w+/g, '[^/]+')}$`).test(path));
    expect(routes).toContain('/');
    expect(routes.filter((route) => !isSeen(route))).toEqual([]);
  });

  test.each(PAGES)('%s', async (name, path, shown) => {
    await page.goto(`${service.url}${path()}`);
    await inspect(name, shown);
  });

  test('Home loads the files that count for its size, and no others', async () => {
    const loaded = new Set<string>();
    const note = (request: Request) => loaded.add(/\/assets\/(.+\.js)$/.exec(request.url())?.[1] ?? '');
    // A link under the mouse loads its page ahead.
    await page.mouse.move(0, 0);
    page.on('request', note);
    await page.goto(service.url);
    await page.getByText('As a table').waitFor();
    page.off('request', note);
    loaded.delete('');
    const counted = firstLoad();
    const known = new Set([...counted, ...soonAfter()]);
    expect([...loaded].filter((file) => !known.has(file))).toEqual([]);
    expect([...counted].filter((file) => !loaded.has(file))).toEqual([]);
  });

  test('docs', async () => {
    await page.goto(`${service.url}/docs`);
    await expectToFitTelephone();
    // All endpoints are rendered alike, and axe needs minutes for all of them on a busy machine: it gets two of each section.
    await page.evaluate(() => {
      for (const endpoint of document.querySelectorAll('section > article:nth-of-type(n + 3)')) endpoint.remove();
    });
    await inspect('docs', 'OpenAPI 3.1 document');
  });

  test('search', async () => {
    await page.goto(service.url);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.getByRole('textbox', { name: 'Search' }).fill('meta');
    await inspect('search', 'Meta Conversions API: mapping');
  });

  test('the menu of a telephone', async () => {
    await page.goto(service.url);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    for (const theme of THEMES) {
      await setTheme(theme);
      await picture(`menu-${theme}-390`);
      await expectNoViolations(theme);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  test('the question before a replay', async () => {
    await page.goto(`${service.url}/dead-letters`);
    await page
      .getByRole('button', { name: /^Replay \d+ …$/ })
      .first()
      .click();
    await inspect('replay', 'sent again');
    await page.getByRole('button', { name: 'Not now' }).click();
  });

  test('an entry of a mapping with everything that a row can say', async () => {
    await page.goto(`${service.url}/templates/${ids.template}`);
    await page.getByRole('button', { name: /^More for Order Completed/ }).click();
    await page.getByRole('menuitem', { name: /add a filter/ }).click();
    await page.getByRole('button', { name: /^Filter of Order Completed/ }).click();
    const field = page.getByRole('combobox', { name: /^Field, condition 1, Filter of Order Completed/ });
    await field.fill('properties.total');
    await page.getByRole('combobox', { name: /^Operator, condition 1, Filter/ }).selectOption('gt');
    await page.getByRole('textbox', { name: /^Value, condition 1, Filter/ }).fill('0');
    await page.getByRole('button', { name: /^Actions for row 1 of Order Completed/ }).click();
    await page.getByRole('menuitem', { name: /^Arguments/ }).click();
    await page.getByRole('button', { name: /^Add a translation to row 1/ }).click();
    await page.getByRole('textbox', { name: /^Value 1 to translate/ }).fill('*');
    await page.getByRole('button', { name: /^Add a condition to row 1/ }).click();
    await inspect('mapping-entry', 'Translate');
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('a table among the settings of a vendor', async () => {
    await page.goto(`${service.url}/catalog/adjust`);
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    for (const _row of [1, 2]) await page.getByRole('button', { name: 'Add a row to Event tokens' }).click();
    await inspect('install-table', 'Event tokens');
  });

  test('routing rules', async () => {
    await page.goto(`${service.url}/data-layer`);
    for (const name of [/^Consent/, /^Privacy/, /^Routing/]) await page.getByRole('button', { name }).click();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByRole('button', { name: 'Add a group, Condition of rule 1' }).click();
    await inspect('routing-rules', 'Effect on an event');
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('a fault in code', async () => {
    await page.goto(`${service.url}/pipelines/${shop.pipeline_id}?tab=tracking-plan`);
    await writeCode(page, 'Tracking plan', '{\n  "Order Completed": {\n    "type": "numbre"\n  }\n}');
    await page.locator('.cm-fault').waitFor();
    await inspect('fault-in-text', 'Tracking plan');
    await page.keyboard.press('ControlOrMeta+z');
  });
});

/** What the demo does not have by itself: a dead letter, a silent alert, a second user, an API token, a second transformation, long words. */
async function fill({ admin, pipeline_id, pipeline_key }: DemoShop): Promise<typeof ids> {
  const alert = await admin.post<{ id: string }>('/alerts', {
    name: 'Orders do not reach Meta',
    kind: 'failing',
    threshold: 10,
    window_minutes: 15,
    channels: [
      { type: 'slack', url: 'https://hooks.slack.example/services/T0/B0/x' },
      { type: 'email', to: 'oncall@shop.example' },
    ],
  });
  await admin.put(`/pipelines/${pipeline_id}`, {
    js_builder_config: {
      consent_config: { provider: 'onetrust', required_category: 'analytics' },
      vendor_syncs: { meta: { enabled: true, consent_category: 'marketing' }, google_analytics: { enabled: true } },
      variables: [
        { name: 'Section', source: 'meta', path: 'article:section', target: 'properties.section' },
        { name: 'Plan', source: 'js_variable', path: 'app.user.plan', target: 'traits.plan' },
      ],
    },
  });
  await admin.post('/users', { email: 'mia@shop.example', name: 'Mia Berg', role: 'editor', password: 'a-first-password' });
  await admin.post('/api-tokens', { name: 'Deployment', role: 'editor' });
  await admin.post(`/pipelines/${pipeline_id}/transformations`, {
    name: 'Drop internal traffic',
    kind: 'rules',
    rules: [{ type: 'delete', target: 'properties.debug' }],
    enabled: false,
  });
  const name = 'a_word_without_a_space_'.repeat(4);
  const long = await admin.post<{ id: string }>('/pipelines', { name, labels: [name.slice(0, 60)] });
  await admin.post('/integrations', { source_id: long.id, vendor: 'webhook', name, config: { url: 'https://shop.example/hook' } });
  // The demo's Meta rejects a purchase whose id begins like this.
  await fetch(`${service.url}/v1/t`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pipeline_key}`, 'content-type': 'application/json', 'user-agent': BROWSER },
    body: JSON.stringify({
      type: 'track',
      event: 'Order Completed',
      messageId: 'a-rejected-order',
      anonymousId: '8f14e45f-ceea-467f-a8d3-6c3f7d6a1c11',
      userId: 'u_4711',
      properties: { order_id: 'A-1009', total: 129.9, currency: 'EUR' },
      context: { consent: { categories: { necessary: true, statistics: true, marketing: true } } },
    }),
  });
  const found = <T>(read: () => Promise<T | undefined>) => vi.waitUntil(read, { timeout: 90_000, interval: 100 }) as Promise<T>;
  const letter = await found(async () => (await admin.get<{ dead_letters: { id: string }[] }>('/dlq')).dead_letters[0]?.id);
  const { integrations } = await admin.get<{ integrations: { name: string; template_id: string }[] }>(
    `/pipelines/${pipeline_id}/integrations`,
  );
  const event = await found(
    async () => (await admin.get<{ events: { event_id: string }[] }>('/events?event=Product%20Viewed')).events[0]?.event_id,
  );
  const { audit_logs } = await admin.get<{ audit_logs: { id: string }[] }>(
    `/audit-logs?resource_id=${pipeline_id}&action=pipeline.updated`,
  );
  const { webhook_sources } = await admin.get<{ webhook_sources: { id: string }[] }>('/webhook-sources');
  return {
    template: integrations.find(({ name }) => name === 'Meta Conversions API')?.template_id ?? '',
    event,
    letter,
    source: webhook_sources[0]?.id ?? '',
    alert: alert.id,
    entry: audit_logs[0]?.id ?? '',
    long: long.id,
  };
}
