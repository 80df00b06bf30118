/** The console in Chromium, on the running service: from an empty installation to a delivered event, without curl. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browsing, browse } from '../packages/collector/test/site.ts';
import { startReceiver } from './harness/receiver.ts';
import { OWNER, type Service, startService } from './harness/service.ts';

let service: Service;
let browsing: Browsing;
let page: Page;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const errors: string[] = [];
beforeAll(async () => {
  [service, receiver, browsing] = await Promise.all([startService(), startReceiver(), browse()]);
  page = await browsing.context.newPage();
  page.on('pageerror', (error) => errors.push(error.message));
  // Rejected requests are expected here; Chromium reports each as a failed load.
  page.on(
    'console',
    (message) => message.type() === 'error' && !message.text().startsWith('Failed to load resource') && errors.push(message.text()),
  );
});
afterAll(async () => {
  await browsing?.close();
  await receiver?.close();
  await service?.stop();
});

describe('the console', () => {
  test('shows the API’s message for a wrong password and keeps the form', async () => {
    await page.goto(service.url);
    await page.getByLabel('E-mail address').fill(OWNER.email);
    await page.locator('input[type=password]').fill('not-the-password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(OWNER.email);
  });

  test('stores no token where a script can read it', async () => {
    await page.locator('input[type=password]').fill(OWNER.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Welcome to Firsthand' }).waitFor();
    const readable = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]));
    expect(readable).not.toMatch(/rc_|eyJ/);
  });

  test('guides from an empty installation to the first event and ticks off that step', async () => {
    await page.getByLabel('Name of the pipeline').fill('Web shop');
    await page.getByRole('button', { name: 'Create pipeline' }).click();
    const snippet = await page.getByLabel('curl snippet').innerText();
    const key = /pk_[a-z0-9]+/.exec(snippet)?.[0];
    await page.getByText('Waiting for the first event').waitFor();
    const answer = await fetch(`${service.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'track', event: 'Order Completed', messageId: 'first-order', properties: { total: 42 } }),
    });
    expect(answer.status).toBe(200);
    await page.getByRole('link', { name: 'Order Completed (first-order)' }).waitFor();
  });

  test('explains the event step by step at a shareable URL', async () => {
    await page.getByRole('link', { name: 'Order Completed (first-order)' }).click();
    await page.getByText('What happened').waitFor();
    await page.goto(page.url());
    await page.getByRole('heading', { name: 'Order Completed' }).waitFor();
    await page.getByText('Consent', { exact: true }).waitFor();
  });

  test('installs a webhook from the catalog and delivers the next event', async () => {
    await page.goto(`${service.url}/catalog/webhook`);
    await page.getByRole('button', { name: 'Install' }).click();
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByRole('combobox', { name: 'Pipelines' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: 'Web shop' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').getByRole('button', { name: 'Install' }).click();
    await page.getByRole('region', { name: 'Webhook' }).waitFor();
  });

  test('shows the API’s message beside the invalid field', async () => {
    await page.goto(`${service.url}/team`);
    await page.getByRole('button', { name: 'Add a user' }).click();
    await page.getByLabel('E-mail address').fill('new@firsthand.test');
    await page.getByLabel('First password').fill('short');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByRole('dialog').innerText()).toMatch(/12 characters/);
  });

  test('opens every page without an error in the browser', async () => {
    for (const path of [
      '/',
      '/pipelines',
      '/catalog',
      '/catalog/meta_conversions_api',
      '/events',
      '/dead-letters',
      '/sources',
      '/data-layer',
      '/team',
      '/audit',
      '/nowhere',
    ]) {
      await page.goto(`${service.url}${path}`);
      await page.locator('h1, h2').first().waitFor();
    }
    expect(errors).toEqual([]);
  });

  test('signs out for good: a reload does not restore the session', async () => {
    await page.goto(service.url);
    await page.getByRole('button', { name: /owner/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in to Firsthand' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in to Firsthand' }).waitFor();
  });
});
