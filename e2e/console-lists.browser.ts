/** An organisation with more pipelines, integrations and users than a page of the API: everything is found, by search and by paging. */
import { beforeAll, describe, expect, test } from 'vitest';
import { startConsole } from './harness/console.ts';

const { service, page, admin, errors, receiver } = await startConsole({ ALERT_INTERVAL: '300ms' });
const PIPELINES = 120;
let oldest: { id: string; pipeline_key: string };
let hook: { id: string; template_id: string };

beforeAll(async () => {
  oldest = await admin.post('/pipelines', { name: 'The very first shop', labels: ['env:production'] });
  hook = await admin.post('/integrations', {
    source_id: oldest.id,
    vendor: 'webhook',
    name: 'Hook of the first',
    config: { url: receiver.url },
  });
  for (let n = 1; n < PIPELINES; n++) await admin.post('/pipelines', { name: `Shop ${String(n).padStart(3, '0')}` });
  for (let n = 0; n < 55; n++)
    await admin.post('/webhook-sources', { name: `Source ${String(n).padStart(2, '0')}`, pipeline_id: oldest.id, source_type: 'crm' });
});

describe('the lists of a large organisation', () => {
  test('pipelines are paged, searched and filtered by label on the server, and the address holds the search', async () => {
    await page.goto(`${service.url}/pipelines`);
    await page.getByText(`50 of ${PIPELINES}`).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText(`100 of ${PIPELINES}`).waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('link', { name: 'The very first shop' }).waitFor();
    await page.getByRole('link', { name: 'env:production' }).click();
    await page.getByText('1 matches').waitFor();
    await page.goBack();
    await page.getByText(`${PIPELINES} in this organisation`).waitFor();
    await page.getByLabel('Filter pipelines').fill('very first');
    await page.getByText('1 matches').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('very first');
  });

  test('Home pages and searches all pipelines with their numbers, and the address holds the search', async () => {
    await page.goto(service.url);
    const pipelines = page.getByRole('region', { name: 'Pipelines' });
    await pipelines.getByText(`25 of ${PIPELINES}`).waitFor();
    await pipelines.getByRole('button', { name: 'Show more' }).click();
    await pipelines.getByText(`50 of ${PIPELINES}`).waitFor();
    await pipelines.getByLabel('Filter pipelines').fill('very first');
    const row = pipelines.getByRole('row', { name: /The very first shop/ });
    await row.getByRole('link', { name: '0', exact: true }).first().waitFor();
    await expect.poll(() => pipelines.getByRole('row').count()).toBe(2);
    await page.reload();
    await row.waitFor();
    expect(await pipelines.getByLabel('Filter pipelines').inputValue()).toBe('very first');
  });

  test('an installation begins with the pipeline one came from, and finds any other by typing', async () => {
    await page.goto(`${service.url}/pipelines/${oldest.id}`);
    await page.getByRole('link', { name: 'Add integration' }).click();
    await page.getByRole('link', { name: /^Webhook/ }).click();
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Install Webhook' });
    await dialog.getByText('The very first shop').waitFor();
    await dialog.getByRole('combobox', { name: 'Pipelines' }).fill('Shop 001');
    await page.getByRole('option', { name: 'Shop 001' }).click();
    await dialog.getByText('Shop 001').waitFor();
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared.getByRole('dialog', { name: 'Install Webhook' }).getByText('The very first shop').waitFor();
    await shared.close();
    await page.keyboard.press('Escape');
  });

  test('the search finds an integration of the oldest pipeline', async () => {
    await page.goto(service.url);
    await page.getByRole('button', { name: /^Search/ }).click();
    await page.getByRole('textbox', { name: 'Search' }).fill('hook of');
    await page.getByRole('button', { name: /^Hook of the first The very first shop/ }).click();
    await page.getByRole('region', { name: 'Hook of the first' }).waitFor();
  });

  test('sources are paged and searched, and a link opens one that no page shows yet', async () => {
    await page.goto(`${service.url}/sources`);
    await page.getByText('50 of 55').waitFor();
    await page.getByLabel('Filter sources').fill('source 00');
    await page.getByRole('link', { name: 'Source 00' }).click();
    await page.getByRole('region', { name: 'Source 00' }).getByText('Nothing was received from it yet.').waitFor();
    await page.goto(`${service.url}/sources?selected=${new URL(page.url()).searchParams.get('selected')}`);
    await page.getByRole('region', { name: 'Source 00' }).waitFor();
  });

  test('an alert is made for a pipeline found by typing, tells two channels, and is changed', async () => {
    await page.goto(`${service.url}/settings?new=yes`);
    const dialog = page.getByRole('dialog', { name: 'New alert' });
    await dialog.getByLabel('Name').fill('Nothing arrives');
    await dialog.getByRole('combobox', { name: 'Pipeline' }).fill('very first');
    await page.getByRole('option', { name: 'The very first shop' }).click();
    await dialog.getByRole('combobox', { name: 'Integration' }).click();
    await page.getByRole('option', { name: 'Hook of the first' }).click();
    await dialog.getByLabel('URL of channel 1').fill('https://hooks.slack.example/one');
    await dialog.getByRole('button', { name: 'Add a channel' }).click();
    await dialog.getByLabel('E-mail address of channel 2').fill('nobody');
    await dialog.getByRole('button', { name: 'Create' }).click();
    // The API's fault stands at its row.
    await expect.poll(() => dialog.getByLabel('E-mail address of channel 2').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('E-mail address of channel 2').fill('oncall@shop.example');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Change Nothing arrives' }).click();
    const change = page.getByRole('dialog', { name: 'Change the alert' });
    await expect.poll(() => change.getByRole('combobox', { name: 'Integration' }).inputValue()).toBe('Hook of the first');
    await change.getByLabel('When at least').fill('25');
    await change.getByRole('button', { name: 'Remove channel 1' }).click();
    await change.getByRole('button', { name: 'Save' }).click();
    await change.waitFor({ state: 'detached' });
    await page.getByText('at Hook of the first').waitFor();
    expect((await admin.get<{ alerts: object[] }>('/alerts')).alerts).toMatchObject([
      {
        name: 'Nothing arrives',
        pipeline_id: oldest.id,
        integration_id: hook.id,
        threshold: 25,
        channels: [{ type: 'email', to: 'oncall@shop.example' }],
      },
    ]);
  });

  test('dead letters and history are chosen for a pipeline found by typing, and the address holds the form', async () => {
    await page.goto(`${service.url}/dead-letters`);
    await page.getByRole('combobox', { name: 'Pipeline' }).fill('very first');
    await page.getByRole('option', { name: 'The very first shop' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('pipeline')).toBe(oldest.id);
    await page.goto(`${service.url}/dead-letters?tab=history`);
    await page.getByRole('combobox', { name: 'Pipeline' }).fill('very first');
    await page.getByRole('option', { name: 'The very first shop' }).click();
    await page.getByRole('combobox', { name: 'Integration' }).click();
    await page.getByRole('option', { name: 'Hook of the first' }).click();
    await page.getByLabel('From', { exact: true }).fill('2026-05-01T10:30');
    await page.getByLabel('Only these events').first().fill('Order Completed');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('events')).toBe('Order Completed');
    await page.reload();
    await expect.poll(() => page.getByRole('combobox', { name: 'Pipeline' }).inputValue()).toBe('The very first shop');
    await expect.poll(() => page.getByRole('combobox', { name: 'Integration' }).inputValue()).toBe('Hook of the first');
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-05-01T10:30');
    await page.getByText('Order Completed').waitFor();
  });

  test('variables and vendor ids of the collector are set in the form, with errors at their row', async () => {
    await page.goto(`${service.url}/pipelines/${oldest.id}?tab=collector`);
    await page.getByRole('combobox', { name: 'Add a vendor' }).click();
    await page.getByRole('option', { name: 'meta', exact: true }).click();
    await page.getByRole('combobox', { name: 'Consent for the ids of meta' }).click();
    await page.getByRole('option', { name: 'advertising' }).click();
    await page.getByRole('button', { name: 'Add a variable' }).click();
    await page.getByLabel('Name of variable 1').fill('Section');
    await page.getByRole('combobox', { name: 'Where Section is read from' }).click();
    await page.getByRole('option', { name: 'meta tag' }).click();
    await page.getByLabel('Path of Section').fill('article:section');
    await page.getByLabel('Where Section goes in the event').fill('section');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Must be a path into the event').waitFor();
    await page.getByLabel('Where Section goes in the event').fill('properties.section');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Pages get it with the next build.').waitFor();
    expect((await admin.get<{ js_builder_config: object }>(`/pipelines/${oldest.id}`)).js_builder_config).toMatchObject({
      vendor_syncs: { meta: { enabled: true, consent_category: 'advertising' } },
      variables: [{ name: 'Section', source: 'meta', path: 'article:section', target: 'properties.section' }],
    });
  });

  test('Back closes the panel of an event and takes a filter away; the panel shows request, answer and the ingest address', async () => {
    receiver.answer(() => ({ body: '{"thanks":"for the order"}' }));
    await fetch(`${service.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: `Bearer ${oldest.pipeline_key}`, 'content-type': 'application/json', 'user-agent': 'Shop/1.0' },
      body: JSON.stringify({ type: 'track', event: 'Order Completed', messageId: 'an-order', properties: { total: 7 } }),
    });
    await page.goto(`${service.url}/events`);
    await page.getByRole('option', { name: /Order Completed/ }).click();
    const panel = page.getByRole('region', { name: 'Event', exact: true });
    await panel.getByLabel('Request', { exact: true }).getByText('Shop/1.0').waitFor();
    await panel.getByText('delivered to all 1').waitFor();
    await panel.getByRole('button', { name: 'Request and answer' }).click();
    await panel.getByText('{"thanks":"for the order"}').waitFor();
    await panel.getByRole('button', { name: 'Copy as curl' }).waitFor();
    await panel.getByRole('button', { name: 'Close' }).press('Enter');
    await panel.waitFor({ state: 'detached' });
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('role'));
    await expect.poll(focused, { message: 'the focus is back in the list' }).toBe('option');
    await page.keyboard.press('Enter');
    await panel.getByRole('button', { name: 'Copy as curl' }).waitFor();
    await page.goBack();
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: '+ Result' }).click();
    await page.getByRole('combobox', { name: 'Result' }).click();
    await page.getByRole('option', { name: /^waiting/ }).click();
    await expect.poll(() => page.getByRole('main').innerText()).toMatch(/Result: waiting.*No retained event matches/s);
    await page.goBack();
    await page.getByRole('option', { name: /Order Completed/ }).waitFor();
  });

  test('events are filtered by their source, the counts of the picture lead to them, and a link shows the same view', async () => {
    await page.goto(`${service.url}/events?pipeline=${oldest.id}`);
    await page.getByRole('button', { name: '+ Source' }).click();
    await page.getByRole('combobox', { name: 'Source' }).fill('source 54');
    await page.getByRole('option', { name: 'Source 54' }).click();
    await expect.poll(() => page.getByRole('main').innerText()).toMatch(/Source: Source 54.*No retained event matches/s);
    await page.goto(`${service.url}/pipelines/${oldest.id}?range=1h`);
    await page.getByRole('region', { name: 'Picture of the pipeline' }).getByRole('link', { name: '1 event of browsers' }).first().click();
    await page.getByRole('button', { name: /^Source: browser/ }).waitFor();
    await expect.poll(() => page.getByRole('combobox', { name: 'Time range' }).inputValue()).toBe('Last hour');
    await page.getByRole('option', { name: /Order Completed/ }).click();
    const panel = page.getByRole('region', { name: 'Event', exact: true });
    await panel.getByRole('button', { name: 'Request and answer' }).click();
    await panel.getByText('{"thanks":"for the order"}').waitFor();
    const shared = await page.context().newPage();
    await shared.goto(page.url());
    await shared.getByRole('region', { name: 'Event', exact: true }).getByText('{"thanks":"for the order"}').waitFor();
    await panel.getByRole('tab', { name: 'Received' }).click();
    await panel.getByLabel('Event as received').getByText('an-order').waitFor();
    await shared.goto(page.url());
    await shared.getByLabel('Event as received').getByText('an-order').waitFor();
    await shared.getByRole('button', { name: /^Source: browser/ }).waitFor();
    await shared.close();
  });

  test('the number of waiting events leads to them, and Home shows it over time', async () => {
    receiver.answer(() => ({ status: 503, headers: { 'retry-after': '3600' } }));
    await fetch(`${service.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: `Bearer ${oldest.pipeline_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'track', event: 'Order Waiting', messageId: 'a-waiting-order' }),
    });
    await page.goto(`${service.url}/pipelines/${oldest.id}`);
    const row = page.getByRole('region', { name: 'Integrations' }).getByRole('row', { name: /Hook of the first/ });
    await row.getByRole('link', { name: /^\d+$/ }).nth(2).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('delivery')).toBe('waiting');
    await expect
      .poll(async () => {
        await page.reload();
        await page.getByRole('heading', { name: 'Events' }).waitFor();
        await page.waitForFunction(() => (window as unknown as { openRequests: number }).openRequests === 0);
        return page.getByRole('main').innerText();
      })
      .toMatch(/Order Waiting/);
    expect(await page.getByRole('option', { name: /Order Completed/ }).count()).toBe(0);
    await page.goto(service.url);
    await page.getByRole('img', { name: 'Waiting over time: from 0 to 1, highest 1' }).waitFor();
  });

  test('a backlog that needs attention leads to what waits', async () => {
    // It needs attention after five minutes: only the item is made up, what waits is not.
    const about = { pipeline_id: oldest.id, integration_id: hook.id, count: 1, since: new Date().toISOString() };
    const item = { kind: 'backlog', severity: 'warning', message: 'Hook of the first has a backlog of 1 event.', ...about };
    await page.route('**/v1/admin/attention', (route) => route.fulfill({ json: { items: [item] } }));
    await page.goto(service.url);
    await page.getByRole('link', { name: 'See what waits' }).click();
    await page.getByRole('option', { name: /Order Waiting/ }).waitFor();
    await expect.poll(() => page.getByRole('option').count()).toBe(1);
    await page.getByRole('button', { name: /^Result: waiting/ }).waitFor();
    await page.unroute('**/v1/admin/attention');
  });

  test('a source that cannot read from its broker needs attention, and leads to the source', async () => {
    const { webhook_sources } = await admin.get<{ webhook_sources: [{ id: string }] }>('/webhook-sources?search=Source%2007');
    // Only the item is made up: these sources have no broker.
    const about = { pipeline_id: oldest.id, integration_id: null, webhook_source_id: webhook_sources[0].id, count: null, since: null };
    const item = { kind: 'failing', severity: 'critical', message: 'Source 07 cannot read from its broker: refused.', ...about };
    await page.route('**/v1/admin/attention', (route) => route.fulfill({ json: { items: [item] } }));
    await page.goto(service.url);
    await page.getByRole('link', { name: 'Open the source' }).click();
    await page.getByRole('region', { name: 'Source 07' }).waitFor();
    await page.unroute('**/v1/admin/attention');
  });

  test('an API token that ends soon needs attention, and leads to the tokens', async () => {
    const expires_at = new Date(Date.now() + 10.5 * 86_400_000).toISOString();
    await admin.post('/api-tokens', { name: 'Nightly export', role: 'viewer', expires_at });
    await page.goto(service.url);
    const item = page.getByRole('listitem').filter({ hasText: 'The API token Nightly export ends in 10 days.' });
    await item.getByRole('link', { name: 'See the API tokens' }).click();
    await page.getByRole('row', { name: /Nightly export.*soon/ }).waitFor();
  });

  test('a number of dead letters leads to exactly these: of its time, with replays that failed again, without rejected events', async () => {
    const shop = await admin.post<{ id: string; pipeline_key: string }>('/pipelines', { name: 'A shop that fails' });
    await admin.post('/integrations', { source_id: shop.id, vendor: 'webhook', name: 'Closed', config: { url: receiver.url } });
    receiver.answer(() => ({ status: 400 }));
    const send = (body: object) =>
      fetch(`${service.url}/v1/t`, {
        method: 'POST',
        headers: { authorization: `Bearer ${shop.pipeline_key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await expect.poll(async () => (await send({ type: 'track', event: 'Order Failed', messageId: 'failed-order' })).status).toBe(200);
    expect((await send({ type: 'track' })).status).toBe(400);
    const letters = async (which: string) => (await admin.get<{ total: number }>(`/dlq?pipeline_id=${shop.id}&${which}`)).total;
    await expect.poll(() => letters('stage=ingest')).toBe(1);
    await expect.poll(() => letters('stage=delivery')).toBe(1);
    expect(await admin.post('/dlq/replay', { pipeline_id: shop.id, stages: 'delivery' })).toEqual({ replayed: 1 });
    await expect.poll(() => letters('stage=delivery')).toBe(2);
    const dead = page
      .getByRole('region', { name: 'Integrations' })
      .getByRole('row', { name: /Closed/ })
      .getByRole('link', { name: '2', exact: true });
    await page.goto(`${service.url}/pipelines/${shop.id}?range=1h`);
    await dead.click();
    const list = page.getByRole('region', { name: 'Dead letters' });
    await expect.poll(() => list.getByRole('link', { name: 'Order Failed' }).count()).toBe(2);
    expect(await page.getByRole('combobox', { name: 'Time range' }).inputValue()).toBe('Last hour');
    await page.getByText('1 waiting to be replayed').waitFor();
    await page.goto(`${service.url}/pipelines/${shop.id}`);
    await page.getByRole('link', { name: /^Dead letters 2 given up/ }).click();
    await expect.poll(() => list.getByRole('link', { name: 'Order Failed' }).count()).toBe(2);
    await expect.poll(() => list.getByRole('row').count(), { message: 'with its head' }).toBe(3);
    await page.getByRole('combobox', { name: 'Stage' }).click();
    await page.getByRole('option', { name: 'ingest' }).click();
    await expect.poll(() => list.getByRole('row').count()).toBe(2);
    await page.goto(`${service.url}/pipelines/${shop.id}?range=1h`);
    await page.getByRole('link', { name: '1 rejected' }).click();
    await page.getByRole('button', { name: /^Processing: rejected/ }).waitFor();
    await page.getByText('1 match', { exact: true }).waitFor();
    await page.goto(`${service.url}/`);
    await page
      .getByRole('row', { name: /A shop that fails/ })
      .getByRole('link', { name: '2', exact: true })
      .click();
    await expect.poll(() => list.getByRole('link', { name: 'Order Failed' }).count()).toBe(2);
  });

  test('a number of the traffic’s table leads to the events of its minute', async () => {
    const { pipelines } = await admin.get<{ pipelines: [{ id: string }] }>('/pipelines?search=A%20shop%20that%20fails');
    await page.goto(`${service.url}/pipelines/${pipelines[0].id}?range=1h`);
    await page.getByText('As a table').click();
    const table = page.getByRole('region', { name: 'Events, last hour, per minute, as a table' });
    // The first minute that is not empty is the one in which the only event was received.
    await table.getByRole('link', { name: '1', exact: true }).first().click();
    await page.getByRole('button', { name: /^Time: \d/ }).waitFor();
    await page.getByRole('option', { name: /Order Failed/ }).waitFor();
    await page.getByText('1 match', { exact: true }).waitFor();
  });

  test('the number of a firing alert leads to the dead letters or the events that it counts', async () => {
    const { pipelines } = await admin.get<{ pipelines: [{ id: string }] }>('/pipelines?search=A%20shop%20that%20fails');
    const watch = { pipeline_id: pipelines[0].id, threshold: 1, window_minutes: 60, channels: [{ type: 'email', to: 'a@shop.example' }] };
    await admin.post('/alerts', { name: 'Given up', kind: 'dead_letters', ...watch });
    await admin.post('/alerts', { name: 'Refused', kind: 'failing', ...watch });
    const firing = async () => (await admin.get<{ alerts: object[] }>('/alerts/firing')).alerts.length;
    await expect.poll(firing).toBe(2);
    await page.goto(`${service.url}/settings`);
    const number = (alert: string) => page.getByRole('listitem', { name: alert }).getByRole('link', { name: /^2 / });
    await number('Given up').click();
    await expect.poll(() => page.getByRole('link', { name: 'Order Failed' }).count()).toBe(2);
    expect(await page.getByRole('combobox', { name: 'Time range' }).inputValue()).toContain('–');
    await page.goBack();
    await number('Refused').click();
    await page.getByRole('button', { name: /^Result: attempt failed/ }).waitFor();
    await page.getByRole('option', { name: /Order Failed/ }).waitFor();
    await page.getByText('1 match', { exact: true }).waitFor();
    // The fixed time is one of the choices, and another one takes its place.
    await page.getByRole('combobox', { name: 'Time range' }).click();
    await page.getByRole('option', { name: 'Last hour' }).click();
    await page.getByRole('button', { name: 'Time: Last hour' }).waitFor();
  });

  test('settings name every process and say what the stores allow; the browser reported no error', async () => {
    await page.goto(`${service.url}/settings`);
    const table = page.getByRole('table', { name: 'Processes' });
    await table.getByText('this one').waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    await page
      .getByText(process.env.STORES === 'servers' ? 'They share PostgreSQL and NATS.' : 'exactly one process works with it')
      .waitFor();
    expect(errors).toEqual([]);
  });
});
