/** Daily work in the console, in Chromium on the running service: alerts, sources, replay of history, trying the API, search. */
import { createHmac } from 'node:crypto';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { startNats } from '../packages/server/test/servers/index.ts';
import { startConsole, writeCode } from './harness/console.ts';

const { service, page, admin, errors, receiver } = await startConsole();
let pipeline: { id: string; pipeline_key: string };

beforeAll(async () => {
  pipeline = await admin.post('/pipelines', { name: 'Web shop' });
});

/** Changes how the open source reads its payloads, and saves it once the preview shows `expected`. */
async function read(page: Page, reading: object, expected?: string): Promise<void> {
  await writeCode(page, 'How it is read', JSON.stringify(reading));
  if (expected !== undefined) await page.getByLabel('The event').getByText(expected).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('New events are read this way').waitFor();
}

describe('daily work in the console', () => {
  test('an alert is created, tested with a real message, paused and deleted', async () => {
    await page.goto(`${service.url}/settings?new=yes`);
    const dialog = page.getByRole('dialog', { name: 'New alert' });
    await dialog.getByLabel('Name').fill('Orders do not arrive');
    // What was typed is lost only after a question, which the browser of this story answers with no.
    await page.keyboard.press('Escape');
    await dialog.getByRole('combobox', { name: 'Channel 1' }).click();
    await page.getByRole('option', { name: 'webhook' }).click();
    await dialog.getByLabel('URL').fill('not an address');
    await dialog.getByRole('button', { name: 'Create' }).click();
    // The API's fault stands at its field, and only there.
    await expect.poll(() => dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.getByRole('alert').count()).toBe(0);
    await dialog.getByLabel('URL').fill(`${receiver.url}/alerts`);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Test Orders do not arrive' }).click();
    await page.getByText('A test went out by webhook.').waitFor();
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/alerts']);
    await page.getByRole('switch', { name: 'Orders do not arrive is on' }).press('Space');
    await expect.poll(async () => (await admin.get<{ alerts: { enabled: boolean }[] }>('/alerts')).alerts[0]?.enabled).toBe(false);
    await page.getByRole('button', { name: 'Delete Orders do not arrive' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('None yet. An alert tells').waitFor();
  });

  test('a webhook source takes signed orders, and says why it refused one', async () => {
    await page.goto(`${service.url}/sources`);
    await page.getByRole('button', { name: 'New source' }).click();
    const dialog = page.getByRole('dialog', { name: 'New source' });
    await dialog.getByLabel('Name').fill('Shopify');
    await dialog.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: /Shopify/ }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    const url = (await page.getByLabel('Webhook address').innerText()).trim();
    const secret = (await page.getByLabel('Signing secret').innerText()).trim();
    await page.keyboard.press('Escape');
    const order = JSON.stringify({ id: 1009, total_price: '68.40', currency: 'EUR', email: 'visitor@example.com', line_items: [] });
    const send = async (key: string, body: string) => {
      const headers = {
        'content-type': 'application/json',
        'x-shopify-topic': 'orders/paid',
        'x-shopify-hmac-sha256': createHmac('sha256', key).update(body).digest('base64'),
      };
      return (await fetch(url, { method: 'POST', headers, body })).status;
    };
    // A provider gets 200 in any case: what is wrong with a webhook is the receiver's matter, and a replay mends it.
    await expect.poll(() => send(secret, order)).toBe(200);
    expect(await send('another secret', order.replace('1009', '1010'))).toBe(200);
    await page.getByRole('link', { name: 'Shopify' }).click();
    await expect
      .poll(async () => {
        await page.reload();
        await page.getByRole('heading', { name: 'Refused lately' }).waitFor();
        await page.waitForFunction(() => (window as unknown as { openRequests: number }).openRequests === 0);
        return page.getByRole('region', { name: 'Shopify' }).innerText();
      })
      .toMatch(/Last received.*signature/is);
    await writeCode(page, 'Payload', order);
    await page.getByLabel('Header x-shopify-topic').fill('orders/paid');
    await page.getByLabel('The event').getByText('visitor@example.com').waitFor();
    // Another reading of it: the event follows at once, and is saved.
    await read(page, { mappings: { 'properties.channel': "'shop'" } }, '"channel": "shop"');
  });

  test('a broker source reads messages, says what it lacks, and is removed', { tags: ['nats-server'] }, async () => {
    const broker = await startNats({ flags: ['--auth', 'right'] });
    try {
      const nc = await connect({ servers: broker.url, token: 'right' });
      await (await jetstreamManager(nc)).streams.add({ name: 'ORDERS', subjects: ['orders'] });
      await page.goto(`${service.url}/sources?new=yes`);
      const dialog = page.getByRole('dialog', { name: 'New source' });
      await dialog.getByLabel('Name').fill('Orders from NATS');
      await dialog.getByRole('combobox', { name: 'Kind' }).click();
      await page.getByRole('option', { name: 'NATS JetStream' }).click();
      await dialog.getByLabel('Stream').fill('ORDERS');
      await dialog.getByRole('combobox', { name: 'TLS' }).click();
      await page.getByRole('option', { name: 'disable' }).click();
      await dialog.getByRole('combobox', { name: 'Authentication' }).click();
      await page.getByRole('option', { name: 'token' }).click();
      await dialog.getByLabel('Password, token or credentials file').fill('wrong');
      await dialog.getByRole('button', { name: 'Create' }).click();
      // The API's fault stands at its field.
      await expect.poll(() => dialog.getByLabel('Servers').getAttribute('aria-invalid')).toBe('true');
      await dialog.getByLabel('Servers').fill(broker.url);
      await dialog.getByRole('button', { name: 'Create' }).click();
      const panel = page.getByRole('region', { name: 'Orders from NATS' });
      await panel.getByText('failing').waitFor();
      const attention = async () => (await admin.get<{ items: { message: string }[] }>('/attention')).items.map(({ message }) => message);
      await expect.poll(attention).toContainEqual(expect.stringMatching(/^Orders from NATS cannot read from its broker: /));
      await panel.getByLabel('Password, token or credentials file').fill('right');
      await panel.getByRole('button', { name: 'Save the connection' }).click();
      await panel.getByText('running').waitFor();
      await read(page, { event_type_path: '$.event' });
      await jetstream(nc).publish('orders', JSON.stringify({ event: 'Order Completed', properties: { order_id: 'n-1' } }));
      await nc.close();
      await expect
        .poll(async () => (await admin.get<{ total: number }>('/events?event=Order%20Completed&limit=1')).total)
        .toBeGreaterThan(0);
      await panel.getByRole('button', { name: 'Remove …' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await panel.waitFor({ state: 'detached' });
    } finally {
      await broker.stop();
    }
  });

  test('history is replayed to a new integration: counted first, then sent', async () => {
    for (const order of ['h-1', 'h-2', 'h-3'])
      await fetch(`${service.url}/v1/t`, {
        method: 'POST',
        headers: { authorization: `Bearer ${pipeline.pipeline_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'track', event: 'Historic Order', messageId: order, properties: { total: 7 } }),
      });
    const historic = async () => (await admin.get<{ total: number }>('/events?event=Historic%20Order')).total;
    await expect.poll(historic).toBe(3);
    const seen = async () => (await admin.get<{ fields: { events: string[] }[] }>(`/pipelines/${pipeline.id}/fields`)).fields;
    await expect.poll(async () => (await seen()).flatMap(({ events }) => events)).toContain('Historic Order');
    await admin.post('/integrations', { source_id: pipeline.id, vendor: 'webhook', name: 'Late', config: { url: `${receiver.url}/late` } });
    await page.goto(`${service.url}/dead-letters?tab=history`);
    await page.getByRole('combobox', { name: 'Integration' }).click();
    await page.getByRole('option', { name: 'Late' }).click();
    // The names of events that the pipeline has seen are suggested.
    await page.getByLabel('Only these events').first().fill('histor');
    await page.getByRole('option', { name: 'Historic Order' }).click();
    // With a single pipeline the other fields are checked too.
    const from = page.getByLabel('From', { exact: true });
    const start = await from.inputValue();
    await from.fill('');
    await page.getByRole('button', { name: 'Count them …' }).click();
    await page.getByText('Enter a time.').waitFor();
    await from.fill(start);
    await page.getByRole('button', { name: 'Count them …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Replay 3' }).click();
    await dialog.getByText('3 events are on their way.').waitFor();
    const late = () => receiver.requests.filter(({ path }) => path === '/late').length;
    await expect.poll(late).toBe(3);
    await dialog.getByRole('button', { name: 'Done' }).click();
  });

  test('the catalog opens with the focus in its search', async () => {
    await page.goto(`${service.url}/catalog`);
    await page.getByLabel('Search the catalog').waitFor();
    await page.keyboard.type('hubsp');
    await page.getByRole('link', { name: /^HubSpot/ }).waitFor();
    await expect.poll(() => page.getByRole('main').getByRole('listitem').count()).toBe(1);
  });

  test('a vendor’s page shows the first events that it maps, and all of them on demand', async () => {
    await page.goto(`${service.url}/catalog/google_analytics_4`);
    const all = page.getByRole('button', { name: /^Show all \d+ events$/ });
    const count = Number(/\d+/.exec(await all.innerText())?.[0]);
    const mapped = page.getByRole('region', { name: 'Mapped events' }).getByRole('listitem').filter({ hasNotText: 'Every event' });
    expect(await mapped.count()).toBeLessThan(count);
    await all.click();
    await all.waitFor({ state: 'detached' });
    await expect.poll(() => mapped.count()).toBe(count);
  });

  test('a vendor with an account is installed, connected and then used in a pipeline', async () => {
    await page.goto(`${service.url}/catalog/google_ads`);
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    const dialog = page.getByRole('dialog');
    for (const label of ['Customer ID', 'Conversion action ID', 'OAuth client ID', 'OAuth client secret'])
      await dialog.getByLabel(label).first().fill('123456');
    await dialog.getByText('Web shop').waitFor();
    // Without an account there is nothing to test yet: the form says so, and what is missing.
    await dialog.getByText('can be tested only afterwards: install, connect the account').waitFor();
    await dialog.getByRole('button', { name: 'Send a test event' }).click();
    await dialog.getByRole('region', { name: 'Test event' }).getByRole('alert').filter({ hasText: 'refresh_token' }).waitFor();
    await dialog.getByRole('button', { name: 'Install', exact: true }).click();
    await dialog.getByText('Connect the account; then the mapping opens').waitFor();
    // The vendor's own pages are not part of this: a revision with the token is what their answer leaves.
    await page.route('**/integration-templates/*/connect', async (route) => {
      const id = route.request().url().split('/').at(-2);
      const { config } = await admin.get<{ config: object }>(`/integration-templates/${id}/revisions/1`);
      await admin.post(`/integration-templates/${id}/revisions`, { config: { ...config, refresh_token: 'from-the-vendor' } });
      await route.fulfill({ json: { authorize_url: `${service.url}/templates/${id}?revision=2` } });
    });
    await dialog.getByRole('button', { name: 'Connect the account' }).click();
    await page.getByRole('button', { name: 'Use in a pipeline …' }).click();
    await dialog.getByRole('combobox', { name: 'Pipeline' }).click();
    await page.getByRole('option', { name: 'Web shop' }).click();
    await dialog.getByRole('button', { name: 'Use it' }).click();
    await dialog.getByRole('link', { name: 'Google Ads' }).click();
    // Another account: the integration gets a revision with the new token. So does the mapping, among its parameters.
    const integration = page.getByRole('region', { name: 'Try it' });
    await integration.getByRole('button', { name: 'Send a test event' }).waitFor();
    const back = `${page.url()}&connected=yes`;
    await page.route('**/v1/admin/integrations/*/connect', (route) => route.fulfill({ json: { authorize_url: back } }));
    await integration.getByRole('button', { name: 'Connect the account' }).click();
    await page.waitForURL('**connected=yes');
    await page.getByRole('button', { name: 'Open the mapping' }).click();
    await page.getByRole('button', { name: 'Edit the parameters' }).click();
    await page.getByRole('button', { name: 'Connect the account' }).waitFor();
  });

  test('another template opens with its own latest revision, and can be used from the pipeline', async () => {
    // From revision 2 of one template to another that has only one.
    await page.getByText('revision 2', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.getByRole('textbox', { name: 'Search' }).fill('Late');
    await page.getByRole('button', { name: 'Late: mapping' }).first().click();
    await page.getByText('revision 1', { exact: true }).waitFor();
    const { id } = await admin.post<{ id: string }>('/pipelines', { name: 'Second shop' });
    await page.goto(`${service.url}/pipelines/${id}?tab=integrations`);
    await page.getByRole('button', { name: 'Use a template …' }).click();
    await page.getByRole('dialog').getByRole('combobox', { name: 'Template' }).click();
    await page.getByRole('option', { name: 'Late' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use it' }).click();
    await page.getByRole('navigation', { name: 'Integrations' }).getByRole('link', { name: /^Late/ }).waitFor();
    await page.getByRole('button', { name: 'Send events …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Build it' }).click();
    await page.getByLabel('Website snippet').getByText('<script async').waitFor();
    await page.keyboard.press('Escape');
  });

  test('an operation of the API is tried with the user’s own session, from the documentation', async () => {
    await page.goto(`${service.url}/docs`);
    await page
      .locator('article', { has: page.getByRole('heading', { name: 'List pipelines', exact: true }) })
      .getByText('Try it')
      .click();
    await page.getByRole('button', { name: 'Send GET' }).click();
    await page.getByRole('status').filter({ hasText: '200' }).waitFor();
    await page.getByRole('region', { name: 'Answer' }).getByText('"Web shop"').waitFor();
    await page.goto(`${service.url}/try?operation=getPipeline`);
    await page.getByRole('textbox', { name: /^id/ }).fill('pl_nothing');
    await page.getByRole('button', { name: 'Send GET' }).click();
    await page.getByText('NOT_FOUND').waitFor();
  });

  test('the search finds pages, pipelines, integrations, templates, vendors, actions and an event id', async () => {
    await page.goto(service.url);
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const find = async (text: string, result: string | RegExp) => {
      await page.getByRole('button', { name: /^Search/ }).click();
      await page.getByRole('textbox', { name: 'Search' }).fill(text);
      await page.getByRole('button', { name: result }).first().click();
    };
    await find('Late', 'Late: mapping');
    await page.getByRole('heading', { name: 'Late' }).waitFor();
    await find('create a pip', 'Create a pipeline');
    await page.getByRole('dialog', { name: 'New pipeline' }).waitFor();
    await page.keyboard.press('Escape');
    // Not the offer to open an event of that id.
    await find('amplitude', /^Amplitude/);
    await page.getByRole('button', { name: 'Install' }).waitFor();
    await find('some-event-id', 'Open the event some-event-id');
    await expect.poll(() => page.url()).toContain('selected=some-event-id');
    expect(errors).toEqual([]);
  });
});
