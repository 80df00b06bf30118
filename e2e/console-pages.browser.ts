/**
 * Every page of the console on the demo's shop, in both themes: axe finds nothing, the browser's console has no errors, and nothing is
 * wider than a telephone. With SCREENSHOTS=1 it writes a picture of each to `data/screenshots`, at 1440 and 390 px.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browsing, browse } from '../packages/collector/test/site.ts';
import { type DemoShop, openDemoShop } from './harness/demo-shop.ts';
import { OWNER, type Service, startService } from './harness/service.ts';

const SCREENSHOTS = join(import.meta.dirname, '../data/screenshots');
const THEMES = ['light', 'dark'] as const;

let service: Service;
let shop: DemoShop;
let browsing: Browsing;
let page: Page;
let template: string;
let event: string;
const errors: string[] = [];

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  [service, browsing] = await Promise.all([startService(), browse()]);
  page = await (await browsing.another({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })).newPage();
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // Without a session the first refresh is answered 401, which Chromium reports.
    if (message.type() === 'error' && !message.text().includes('401')) errors.push(message.text());
  });
  shop = await openDemoShop(service, 12);
  const { integrations } = await shop.admin.get<{ integrations: { name: string; template_id: string }[] }>(
    `/pipelines/${shop.pipeline_id}/integrations`,
  );
  template = integrations.find(({ name }) => name === 'Meta Conversions API')?.template_id ?? '';
  const { events } = await shop.admin.get<{ events: { event_id: string }[] }>('/events?event=Product%20Viewed');
  event = events[0]?.event_id ?? '';
  await page.goto(service.url);
  await page.getByLabel('E-mail address').fill(OWNER.email);
  await page.locator('input[type=password]').fill(OWNER.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
});
afterAll(async () => {
  await browsing?.close();
  shop?.close();
  await service?.stop();
});

const setTheme = (theme: (typeof THEMES)[number]) =>
  page.evaluate((scheme) => document.documentElement.setAttribute('data-mantine-color-scheme', scheme), theme);
const picture = (name: string) => page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });

const pipeline = (tab: string) => () => `/pipelines/${shop.pipeline_id}?tab=${tab}`;
const PAGES: [name: string, path: () => string, shown: string][] = [
  ['home', () => '/', 'Needs attention'],
  ['pipelines', () => '/pipelines', 'Demo shop'],
  ['pipeline-overview', pipeline('overview'), 'Consent · bots'],
  ['pipeline-integrations', pipeline('integrations'), 'Google Analytics 4'],
  ['pipeline-transformations', pipeline('transformations'), 'Sample event'],
  ['pipeline-tracking-plan', pipeline('tracking-plan'), 'Order Completed'],
  ['pipeline-consent', pipeline('consent'), 'A visitor who agrees to'],
  ['pipeline-collector', pipeline('collector'), 'Consent tool'],
  ['pipeline-settings', pipeline('settings'), 'Domains'],
  ['catalog', () => '/catalog', 'Google Analytics 4'],
  ['vendor', () => '/catalog/google_analytics_4', 'Sample request'],
  ['events', () => '/events', 'Integrations'],
  ['event', () => `/events?selected=${event}`, 'What happened'],
  ['dead-letters', () => '/dead-letters', 'Replay history'],
  ['replay-history', () => '/dead-letters?tab=history', 'Only these events'],
  ['mapping', () => `/templates/${template}`, 'Everything else'],
  ['sources', () => '/sources', 'Shopify'],
  ['data-layer', () => '/data-layer', 'Effect on an event'],
  ['team', () => '/team', 'Add a user'],
  ['api-tokens', () => '/team?tab=tokens', 'New token'],
  ['own-sign-in', () => '/team?tab=sign-in', 'Two-step sign-in'],
  ['audit', () => '/audit', 'Verify the chain'],
  ['settings', () => '/settings', 'Retention'],
];

describe('every page of the console', () => {
  test.each(PAGES)('%s', async (name, path, shown) => {
    await page.goto(`${service.url}${path()}`);
    await page.getByText(shown).first().waitFor();
    await page.waitForFunction(() => (window as unknown as { openRequests: number }).openRequests === 0);
    await page.evaluate(`if (!window.axe) { ${axe.source} }`);
    for (const theme of THEMES) {
      await setTheme(theme);
      if (process.env.SCREENSHOTS) await picture(`${name}-${theme}-1440`);
      const { violations } = await page.evaluate(async () =>
        (window as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
      );
      expect(
        violations.map(
          ({ id, nodes }) => `${theme} ${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
        ),
      ).toEqual([]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    if (process.env.SCREENSHOTS)
      for (const theme of THEMES) {
        await setTheme(theme);
        await picture(`${name}-${theme}-390`);
      }
    expect(await page.evaluate(() => document.documentElement.scrollWidth), 'no wider than the screen').toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(errors).toEqual([]);
  });
});
