/** The console in Chromium, on the running service: from an empty installation to a delivered event, without curl. */
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AdminClient } from '../packages/cli/src/demo/admin-client.ts';
import { type Browsing, browse } from '../packages/collector/test/site.ts';
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
  page = await browsing.context.newPage();
  await page.routeWebSocket(/debug\/live/, (socket) => void (liveIsDown ? socket.close() : socket.connectToServer()));
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

/** Presses Tab until the focused control has that name. In a list of tabs Tab reaches the chosen one only: arrow keys go on from there. */
async function tabTo(name: RegExp, tab?: string): Promise<void> {
  if (tab !== undefined) await tabTo(new RegExp(`^${tab}$`));
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press(tab === undefined ? 'Tab' : 'ArrowRight');
    const focused = await page.evaluate(() => {
      const control = document.activeElement as HTMLElement | null;
      const label = (control as HTMLInputElement | null)?.labels?.[0]?.innerText;
      return control?.getAttribute('aria-label') ?? label ?? control?.innerText ?? '';
    });
    if (name.test(focused)) return;
  }
  throw new Error(`no control named ${name} can be reached with Tab`);
}
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
    await tabTo(/^curl$/, 'Website');
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
    await tabTo(/^Install$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(/^URL/);
    await page.keyboard.type(receiver.url);
    await tabTo(/^Install$/);
    await page.keyboard.press('Enter');
    await page.getByText('Webhook receives events from now on.').waitFor();
    await tabTo(/^Send a test event$/);
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: '200' }).waitFor();
    expect(receiver.events()).toMatchObject([{ event: 'Order Completed', properties: { order_id: 'A-1009' } }]);
    await tabTo(/^Done$/);
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
    await page.getByRole('link', { name: 'All that failed this way' }).click();
    await page.getByRole('region', { name: 'Causes' }).getByText('The shop is closed.').waitFor();
    // From here by keyboard alone.
    await tabTo(/^Replay 1 …$/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('event is sent again').waitFor();
    await tabTo(/^Replay 1$/);
    await page.keyboard.press('Enter');
    await page.getByText('1 event is on its way.').waitFor();
    await expect.poll(() => receiver.events().filter(({ event }) => event === 'Order Refused').length).toBe(2);
    await tabTo(/^Done$/);
    await page.keyboard.press('Enter');
    await page.getByText('Nothing is waiting to be replayed').waitFor();
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
    await tabTo(/^Target, row 1 of Order Completed/);
    await page.keyboard.press('End');
    await page.keyboard.type('_changed');
    await expect.poll(() => page.getByRole('region', { name: 'Request', exact: true }).innerText()).toMatch(/_changed/);
    await page.getByText('draft 2').waitFor();
    await page.getByRole('button', { name: 'Save as revision 2 …' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Summary').waitFor();
    await tabTo(/^Summary/);
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

  test('asks for the password over the page when a session has ended, and keeps what was typed', async () => {
    await page.goto(`${service.url}/team`);
    await page.getByRole('button', { name: 'Add a user' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Typed before the session ended');
    await page.context().clearCookies();
    const refuse = (route: Route) =>
      route.fulfill({ status: 401, json: { error: { code: 'EXPIRED_TOKEN', message: 'The access token has expired.' } } });
    await page.route('**/v1/admin/users', refuse);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Your session has ended.').waitFor();
    await page.unroute('**/v1/admin/users', refuse);
    await page.getByLabel('Sign in again').locator('input[type=password]').fill(OWNER.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Your session has ended.').waitFor({ state: 'detached' });
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Typed before the session ended');
  });

  test('tells a viewer which role an action needs', async () => {
    const viewer = { email: 'viewer@firsthand.test', password: 'viewer-password-1' };
    await api('/users', { ...viewer, name: 'Viewer', role: 'viewer' });
    const other = await (await browsing.another()).newPage();
    await other.goto(`${service.url}/pipelines`);
    await other.getByLabel('E-mail address').fill(viewer.email);
    await other.locator('input[type=password]').fill(viewer.password);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    const create = other.getByRole('button', { name: 'New pipeline' });
    await create.waitFor();
    expect([await create.isDisabled(), await create.getAttribute('title')]).toEqual([true, 'Needs the role editor']);
    await other.context().close();
  });

  test('says when the service is away, and continues once it is back', async () => {
    await page.goto(service.url);
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    const banner = page.getByRole('alert').filter({ hasText: 'No connection to the service' });
    await service.kill();
    await banner.waitFor();
    await service.start();
    await page.getByRole('button', { name: 'Try now' }).click();
    await banner.waitFor({ state: 'detached' });
  });

  test('shows a page for an unknown address, and reported no error in the browser', async () => {
    await page.goto(`${service.url}/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(errors.filter((message) => !message.includes('WebSocket connection'))).toEqual([]);
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
