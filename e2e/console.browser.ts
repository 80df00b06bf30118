/** The console in Chromium, on the running service: from an empty installation to a delivered event, without curl. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminClient } from '../packages/cli/src/demo/admin-client.ts';
import { type Browsing, browse } from '../packages/collector/test/site.ts';
import { openPage, tabTo } from './harness/console.ts';
import { startReceiver } from './harness/receiver.ts';
import { OWNER, type Service, startService } from './harness/service.ts';

let service: Service;
let browsing: Browsing;
let page: Page;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const errors: string[] = [];
/** While true, the page's live connection is refused. */
let liveIsDown = false;
beforeAll(async () => {
  [service, receiver, browsing] = await Promise.all([startService(), startReceiver(), browse()]);
  page = await openPage(browsing, errors);
  await page.routeWebSocket(/debug\/live/, (socket) => void (liveIsDown ? socket.close() : socket.connectToServer()));
});
afterAll(async () => {
  await browsing?.close();
  await receiver?.close();
  await service?.stop();
});

let admin: AdminClient | undefined;
async function api<T>(path: string, body?: object): Promise<T> {
  admin ??= new AdminClient(service.url, OWNER.email, OWNER.password);
  return body === undefined ? admin.get<T>(path) : admin.post<T>(path, body);
}

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

  test('ticks off the first event although it was sent before the live connection stood', async () => {
    liveIsDown = true;
    await page.reload();
    // By keyboard alone: the field has the focus.
    await page.getByLabel('Name of the pipeline').waitFor();
    await page.keyboard.type('Web shop');
    await page.keyboard.press('Enter');
    await page.getByText('Waiting for the first event').waitFor();
    await tabTo(page, /^curl$/, 'Website');
    const key = /pk_[a-z0-9]+/.exec(await page.getByLabel('curl snippet').innerText())?.[0];
    const answer = await fetch(`${service.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'track', event: 'Order Completed', messageId: 'first-order', properties: { total: 42 } }),
    });
    expect(answer.status).toBe(200);
    await page.getByRole('link', { name: 'Order Completed (first-order)' }).waitFor();
    liveIsDown = false;
  });

  test('shows the same steps after a reload, and the tag of the website’s script', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'Welcome to Firsthand' }).waitFor();
    await page.getByRole('link', { name: 'Order Completed (first-order)' }).waitFor();
    await page.getByLabel('curl snippet').waitFor();
    await page.getByRole('tab', { name: 'Website' }).click();
    await page.getByLabel('Website snippet').getByText('<script async').waitFor();
  });

  test('explains the event step by step at a shareable URL', async () => {
    await page.getByRole('link', { name: 'Order Completed (first-order)' }).click();
    await page.getByText('What happened').waitFor();
    await page.goto(page.url());
    await page.getByRole('heading', { name: 'Order Completed' }).waitFor();
    await page.getByText('Consent', { exact: true }).waitFor();
  });

  test('installs a webhook by keyboard alone and checks it with a real request', async () => {
    await page.goto(`${service.url}/catalog/webhook`);
    await page.getByRole('button', { name: 'Install' }).waitFor();
    await tabTo(page, /^Install$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, /^URL/);
    await page.keyboard.type(receiver.url);
    // Before anything is installed.
    await tabTo(page, /^Send a test event$/);
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: '200' }).waitFor();
    expect(receiver.events()).toMatchObject([{ event: 'Order Completed', properties: { order_id: 'A-1009' } }]);
    expect((await api<{ total: number }>('/integration-templates')).total).toBe(0);
    await tabTo(page, /^Install$/);
    await page.keyboard.press('Enter');
    await page.getByText('Webhook receives events from now on').waitFor();
    await tabTo(page, /^Done$/);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Webhook' }).waitFor();
  });

  test('finds, explains and replays what a vendor refused', async () => {
    receiver.answer(() => ({ status: 400, body: JSON.stringify({ message: 'The shop is closed.' }) }));
    const { pipelines } = await api<{ pipelines: { pipeline_key: string }[] }>('/pipelines');
    await fetch(`${service.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pipelines[0]?.pipeline_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'track', event: 'Order Refused', messageId: 'refused-order', properties: { total: 7 } }),
    });
    await expect.poll(async () => (await api<{ total: number }>('/dlq')).total).toBe(1);
    receiver.answer(() => ({}));
    await page.goto(`${service.url}/events?delivery=dead_lettered`);
    await page.getByRole('option', { name: /Order Refused/ }).click();
    await page.getByText('The shop is closed.').first().waitFor();
    // The mapping opens with the event that failed in it.
    const mapping = await page.getByRole('link', { name: 'Open the mapping' }).getAttribute('href');
    expect(new URL(mapping ?? '', service.url).searchParams.get('event')).toBe('refused-order');
    await page.getByRole('link', { name: 'All that failed this way' }).click();
    await page.getByRole('region', { name: 'Causes' }).getByText('The shop is closed.').waitFor();
    // From here by keyboard alone.
    await tabTo(page, /^Replay 1 …$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('event is sent again').waitFor();
    await tabTo(page, /^Replay 1$/);
    await page.keyboard.press('Enter');
    await page.getByText('1 event is on its way.').waitFor();
    await expect.poll(() => receiver.events().filter(({ event }) => event === 'Order Refused').length).toBe(2);
    await tabTo(page, /^Done$/);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Dead letters' }).getByRole('cell', { name: 'replayed' }).waitFor();
  });

  test('changes a mapping by keyboard alone: the request follows, the revision is saved', async () => {
    const { pipelines } = await api<{ pipelines: { id: string }[] }>('/pipelines');
    const { template_id } = await api<{ template_id: string }>('/integrations', {
      source_id: pipelines[0]?.id,
      vendor: 'google_analytics_4',
      name: 'GA4',
      config: { measurement_id: 'G-DEMO123456', api_secret: 'aB3dE5fG7hI9jK1lM3nO5p', endpoint: receiver.url },
    });
    await page.goto(`${service.url}/templates/${template_id}`);
    await page.getByRole('region', { name: 'Request', exact: true }).getByText('transaction_id').waitFor();
    await page.getByRole('textbox', { name: 'Filter rows' }).focus();
    await tabTo(page, /^Target, row 1 of Order Completed/);
    await page.keyboard.press('End');
    await page.keyboard.type('_changed');
    await expect.poll(() => page.getByRole('region', { name: 'Request', exact: true }).innerText()).toMatch(/_changed/);
    await page.getByText('draft 2').waitFor();
    await page.getByRole('button', { name: 'Save as revision 2 …' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Summary').waitFor();
    await tabTo(page, /^Summary/);
    await page.keyboard.type('Another name');
    await page.keyboard.press('Enter');
    await page.getByText('Revision 2 is saved.').waitFor();
    await page.keyboard.press('Escape');
  });

  test('shows the API’s message beside the invalid field', async () => {
    await page.goto(`${service.url}/team`);
    await page.getByRole('button', { name: 'Add a user' }).click();
    await page.getByLabel('E-mail address').fill('new@firsthand.test');
    await page.getByLabel('First password').fill('short');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByRole('dialog').innerText()).toMatch(/12 characters/);
  });

  test('shows a page for an unknown address, and reported no error in the browser', async () => {
    await page.goto(`${service.url}/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(errors).toEqual([]);
  });
});
