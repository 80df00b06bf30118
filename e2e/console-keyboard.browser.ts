/** The console without a mouse, in Chromium on the running service: first run, installation, change of a mapping, replay. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { startSignedOut, tabTo } from './harness/console.ts';
import { OWNER } from './harness/service.ts';

const { service, page, admin, receiver, errors } = await startSignedOut();
/** Presses of a mouse or finger that the page saw. */
const pointed: string[] = [];

beforeAll(async () => {
  await page.exposeFunction('pointed', (what: string) => pointed.push(what));
  await page.addInitScript(() => {
    const { pointed: report } = window as unknown as { pointed(what: string): void };
    addEventListener('pointerdown', ({ target }) => report((target as Element).outerHTML), true);
  });
});
afterEach(() => {
  expect(pointed).toEqual([]);
  expect(errors).toEqual([]);
});

/** Presses Tab until the control has the focus, then Enter. */
async function press(name: RegExp, key?: 'Shift+Tab'): Promise<void> {
  await tabTo(page, name, key);
  await page.keyboard.press('Enter');
}
const request = () => page.getByRole('region', { name: 'Request', exact: true });

test('the first run is completed by keyboard alone: signed in, pipeline created, event received, catalog opened', async () => {
  await page.goto(service.url);
  // The first field of a page has the focus.
  await page.getByLabel('E-mail address').waitFor();
  await page.keyboard.type(OWNER.email);
  await tabTo(page, /^Password/);
  await page.keyboard.type(OWNER.password);
  await page.keyboard.press('Enter');
  await page.getByLabel('Name of the pipeline').waitFor();
  await page.keyboard.type('Web shop');
  await page.keyboard.press('Enter');
  await page.getByLabel('Website snippet').waitFor();
  await press(/^Send a sample order from here$/);
  await page.getByRole('link', { name: /^Order Completed/ }).waitFor();
  await press(/^Open the catalog$/);
  await page.getByRole('heading', { name: 'Catalog' }).waitFor();
});

test('a webhook is found, checked with a real request and installed by keyboard alone, which ends the first run', async () => {
  // The search has the focus. The letters of the vendor's icon stand before its name.
  await page.getByLabel('Search the catalog').waitFor();
  await page.keyboard.type('webhook');
  await press(/^W\s+Webhook/);
  await page.getByRole('heading', { name: 'Webhook', exact: true }).waitFor();
  await press(/^Install$/);
  await page.getByRole('dialog').waitFor();
  await tabTo(page, /^URL/);
  await page.keyboard.type(receiver.url);
  // Before anything is installed.
  await press(/^Send a test event$/);
  await page.getByRole('status').filter({ hasText: '200' }).waitFor();
  expect(receiver.events()).toMatchObject([{ event: 'Order Completed', properties: { order_id: 'A-1009' } }]);
  expect((await admin.get<{ total: number }>('/integration-templates')).total).toBe(0);
  await press(/^Install$/);
  await page.getByText('Webhook receives events from now on').waitFor();
  await press(/^Done$/);
  await page.getByRole('region', { name: 'Webhook' }).waitFor();
  await press(/^Home$/);
  await page.getByText('Go to Home').waitFor();
  await press(/^Go to Home$/);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
});

test('what a vendor refused is found, explained and replayed by keyboard alone', async () => {
  receiver.answer(() => ({ status: 400, body: JSON.stringify({ message: 'The shop is closed.' }) }));
  const { pipelines } = await admin.get<{ pipelines: { pipeline_key: string }[] }>('/pipelines');
  await fetch(`${service.url}/v1/t`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pipelines[0]?.pipeline_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'track', event: 'Order Refused', messageId: 'refused-order', properties: { total: 7 } }),
  });
  await expect.poll(async () => (await admin.get<{ total: number }>('/dlq')).total).toBe(1);
  receiver.answer(() => ({}));
  await press(/^Events$/);
  await page.getByRole('option', { name: /Order Refused/ }).waitFor();
  // Past the link of the same name: the list, whose first row is the newest event.
  await tabTo(page, /^Events$/);
  await page.keyboard.press('ArrowDown');
  await page.getByText('The shop is closed.').first().waitFor();
  // The mapping opens with the event that failed in it.
  const mapping = await page.getByRole('link', { name: 'Open the mapping' }).getAttribute('href');
  expect(new URL(mapping ?? '', service.url).searchParams.get('event')).toBe('refused-order');
  await press(/^All that failed this way$/);
  await page.getByRole('region', { name: 'Causes' }).getByText('The shop is closed.').waitFor();
  await press(/^Replay 1 …$/);
  await page.getByRole('dialog').getByText('event is sent again').waitFor();
  await press(/^Replay 1$/);
  await page.getByText('1 event is on its way.').waitFor();
  await expect.poll(() => receiver.events().filter(({ event }) => event === 'Order Refused').length).toBe(2);
  await press(/^Done$/);
  await page.getByRole('region', { name: 'Dead letters' }).getByRole('cell', { name: 'replayed' }).waitFor();
});

test('a mapping is found and changed by keyboard alone: the request follows, the revision is saved', async () => {
  const { pipelines } = await admin.get<{ pipelines: { id: string }[] }>('/pipelines');
  await admin.post('/integrations', {
    source_id: pipelines[0]?.id,
    vendor: 'google_analytics_4',
    name: 'GA4',
    config: { measurement_id: 'G-DEMO123456', api_secret: 'aB3dE5fG7hI9jK1lM3nO5p', endpoint: receiver.url },
  });
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('textbox', { name: 'Search' }).waitFor();
  await page.keyboard.type('GA4');
  const found = page.getByRole('button', { name: 'GA4: mapping' });
  await found.waitFor();
  while ((await found.getAttribute('data-selected')) === null) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await request().getByText('transaction_id').waitFor();
  await tabTo(page, /^Filter rows$/);
  await page.keyboard.type('order_id');
  await tabTo(page, /^Target, row \d+ of Order Completed/);
  await page.keyboard.press('End');
  await page.keyboard.type('_changed');
  await expect.poll(() => request().innerText()).toMatch(/_changed/);
  await page.getByText('draft 2').waitFor();
  await press(/^Save as revision 2 …$/, 'Shift+Tab');
  await page.getByLabel('Summary').waitFor();
  await tabTo(page, /^Summary/);
  await page.keyboard.type('Another name');
  await page.keyboard.press('Enter');
  await page.getByText('Revision 2 is saved.').waitFor();
  await page.keyboard.press('Escape');
});

test('after a row of a table is removed the focus is in the next row, after the last one beside the table', async () => {
  for (const name of ['Third', 'Second', 'First']) await admin.post('/api-tokens', { name, role: 'viewer' });
  await page.goto(`${service.url}/team?tab=tokens`);
  await page.getByRole('button', { name: 'Revoke Third' }).waitFor();
  const revoke = async (name: string) => {
    await page.keyboard.press('Enter');
    // By its title: the dialog of the last one may still be fading.
    await page.getByRole('dialog', { name: `Revoke ${name}?` }).waitFor();
    await press(/^Revoke$/);
    await page.getByRole('button', { name: `Revoke ${name}` }).waitFor({ state: 'detached' });
  };
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);
  await tabTo(page, /^Revoke First$/);
  await revoke('First');
  await expect.poll(focused).toBe('Revoke Second');
  await tabTo(page, /^Revoke Third$/);
  await revoke('Third');
  // It was the last row: the one before it.
  await expect.poll(focused).toBe('Revoke Second');
  await revoke('Second');
  await page.getByText('No API tokens').waitFor();
  await expect.poll(focused).toBe('New token');
});
