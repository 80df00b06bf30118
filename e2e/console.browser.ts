/** The console in Chromium, on the running service: from an empty installation to a first event that is explained. */
import { beforeAll, describe, expect, test } from 'vitest';
import { passTime, startSignedOut, tabTo } from './harness/console.ts';
import { OWNER } from './harness/service.ts';

const { service, page, errors } = await startSignedOut();
/** Not a secure context: browsers offer no clipboard there. */
const url = service.url.replace('127.0.0.1', 'console.test');
/** While true, the page's live connection is refused. */
let liveIsDown = false;
beforeAll(() => page.routeWebSocket(/debug\/live/, (socket) => void (liveIsDown ? socket.close() : socket.connectToServer())));

describe('the console', () => {
  test('shows the API’s message for a wrong password and keeps the form', async () => {
    await page.goto(url);
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
    await page.clock.install();
    await page.reload();
    // The field has the focus.
    await page.getByLabel('Name of the pipeline').waitFor();
    await page.keyboard.type('Web shop');
    await page.keyboard.press('Enter');
    await page.getByText('Waiting for the first event').waitFor();
    await tabTo(page, /^Website$/);
    await tabTo(page, /^curl$/, 'ArrowRight');
    const key = /pk_[a-z0-9]+/.exec(await page.getByLabel('curl snippet').innerText())?.[0];
    const answer = await fetch(`${service.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'track', event: 'Order Completed', messageId: 'first-order', properties: { total: 42 } }),
    });
    expect(answer.status).toBe(200);
    await passTime(page, { until: page.getByRole('link', { name: 'Order Completed (first-order)' }) });
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

  test('copies a snippet over plain HTTP too', async () => {
    await page.getByRole('tabpanel').getByRole('button', { name: 'Copy' }).click();
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('dialog').getByRole('textbox').press('ControlOrMeta+v');
    expect(await page.getByRole('dialog').getByRole('textbox').inputValue()).toMatch(/^<script async/);
    await page.keyboard.press('Escape');
  });

  test('explains the event step by step at a shareable URL', async () => {
    await page.getByRole('link', { name: 'Order Completed (first-order)' }).click();
    await page.getByText('What happened').waitFor();
    await page.goto(page.url());
    await page.getByRole('heading', { name: 'Order Completed' }).waitFor();
    await page.getByText('Consent', { exact: true }).waitFor();
  });

  test('shows the API’s message beside the invalid field', async () => {
    await page.goto(`${url}/team`);
    await page.getByRole('button', { name: 'Add a user' }).click();
    await page.getByLabel('E-mail address').fill('new@firsthand.test');
    await page.getByLabel('First password').fill('short');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => page.getByRole('dialog').innerText()).toMatch(/12 characters/);
    // An entry of a list: at the list.
    await page.goto(`${url}/pipelines?new=yes`);
    await page.getByRole('dialog').getByLabel('Name').fill('Second shop');
    await page.getByRole('dialog').getByLabel('Domains that may send events').first().fill('https://shop.example');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').getByText('Entry 1: ').waitFor();
  });

  test('shows a page for an unknown address, and reported no error in the browser', async () => {
    await page.goto(`${url}/nowhere`);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    // What a link from elsewhere led to may be gone: there is no page to go back to.
    await page.goto(`${url}/pipelines/pl_gone`);
    await page.getByRole('link', { name: 'Go to Home' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(errors).toEqual([]);
  });
});
