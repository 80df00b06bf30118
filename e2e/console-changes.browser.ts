/** What a change does is said before it does it, with a count of the events it concerns; and the address holds what was set to see it. */
import { beforeAll, expect, test, vi } from 'vitest';
import { send as post } from './harness/client.ts';
import { startConsole, writeCode } from './harness/console.ts';

const { service, page, admin, errors, receiver } = await startConsole();
let pipeline: { id: string; pipeline_key: string };
let integration: { id: string; template_id: string };

beforeAll(async () => {
  await admin.put('/data-layer', { config: { consent: { mapping: { statistics: 'analytics', ads: 'marketing' } } } });
  pipeline = await admin.post('/pipelines', { name: 'Web shop' });
  integration = await admin.post('/integrations', {
    source_id: pipeline.id,
    vendor: 'webhook',
    name: 'Warehouse',
    consent_category: 'analytics',
    config: {
      url: receiver.url,
      events: { '@screen': { vendor_event_name: 'seen_screen', mappings: [{ source: 'name', target: 'screen' }] } },
    },
  });
  // Two orders are delivered, the one without consent is dropped at the integration.
  await send('order-1', { properties: { total: 7 } }, true);
  await send('order-2', { properties: {} }, true);
  await send('order-3', { properties: { total: 9 } }, false);
  const events = async (delivery: string) =>
    (await admin.get<{ total: number }>(`/events?delivery=${delivery}&integration_id=${integration.id}`)).total;
  const isRecorded = async () => (await events('delivered')) === 2 && (await events('dropped')) === 1;
  await vi.waitUntil(isRecorded, { timeout: 90_000, interval: 100 });
});

/** A new pipeline and a changed data layer are in force within seconds. */
async function send(messageId: string, of: object, consent: boolean): Promise<void> {
  const context = { consent: { categories: { statistics: consent } } };
  const body = { type: 'track', event: 'Order Completed', messageId, userId: 'u1', context, ...of };
  const accepted = async () => (await post(service, pipeline.pipeline_key, '/v1/t', body, { 'user-agent': 'Shop/1.0' })).status === 200;
  await vi.waitUntil(accepted, { timeout: 90_000, interval: 100 });
}
const stored = () => admin.get<Record<string, unknown>>(`/pipelines/${pipeline.id}/integrations/${integration.id}`);
const question = () => page.getByRole('dialog');
const searchOf = (address: string | null) => Object.fromEntries(new URL(address ?? '', service.url).searchParams);

test('the page of an integration counts its events, leads to them, and sends a test event', async () => {
  await page.goto(`${service.url}/pipelines/${pipeline.id}?tab=integrations`);
  const panel = page.getByRole('region', { name: 'Warehouse' });
  const number = (label: string, count: number) => panel.getByRole('link', { name: new RegExp(`^${label} ?${count}(?!\\d)`) });
  const own = { pipeline: pipeline.id, integration: integration.id };
  await number('Delivered in 24 h', 2).waitFor();
  expect(searchOf(await number('Delivered in 24 h', 2).getAttribute('href'))).toEqual({
    ...own,
    delivery: 'delivered',
    range: '24h',
    time: 'outcome',
  });
  expect(searchOf(await number('Waiting now', 0).getAttribute('href'))).toEqual({ ...own, delivery: 'waiting' });
  const before = receiver.requests.length;
  await panel.getByRole('button', { name: 'Send a test event' }).click();
  await panel.getByRole('status').filter({ hasText: '200' }).waitFor();
  expect(receiver.requests.length).toBe(before + 1);
  await number('Dropped in 24 h', 1).click();
  await expect.poll(() => page.getByRole('option', { name: /Order Completed/ }).count()).toBe(1);
});

test('consent, revision and events of an integration are saved after a question; its limits are not', async () => {
  await page.goto(`${service.url}/pipelines/${pipeline.id}?tab=integrations`);
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await page.getByLabel('Requests/day').fill('5000');
  await save.click();
  await page.getByText('The change is in force within five seconds').waitFor();
  expect(await stored()).toMatchObject({ rate_limit_daily: 5000 });
  await page.getByLabel('Only these events').first().fill('Order Completed');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: '@page' }).waitFor({ state: 'hidden' });
  await page.getByRole('combobox', { name: 'Consent category' }).click();
  await page.getByRole('option', { name: 'marketing' }).click();
  await save.click();
  await question().getByText('It then gets only events of visitors who agreed to marketing.').waitFor();
  await question().getByText('It then gets only Order Completed').waitFor();
  await question().getByText('it delivered 2 events').first().waitFor();
  await question().getByRole('button', { name: 'Keep' }).click();
  await question().waitFor({ state: 'detached' });
  expect(await stored()).toMatchObject({ consent_category: 'analytics', event_filter: null });
  await save.click();
  await question().getByRole('button', { name: 'Save' }).click();
  await expect.poll(stored).toMatchObject({ consent_category: 'marketing', event_filter: { event_names: ['Order Completed'] } });
});

test('a tracking plan shows which of the last events fit it, and drops events only after a question that counts them', async () => {
  const path = `/pipelines/${pipeline.id}/tracking-plan`;
  await page.goto(`${service.url}/pipelines/${pipeline.id}?tab=tracking-plan`);
  const effect = page.getByRole('region', { name: 'Effect on recent events' });
  await effect.getByText('not in the plan').waitFor();
  await writeCode(page, 'Tracking plan', '{"Order Completed": {"type": "object", "required": ["total"]}}');
  await effect.getByText('1 does not fit').waitFor();
  await effect.getByText('properties.total').waitFor();
  await page.getByRole('combobox', { name: 'An event that does not fit' }).click();
  await page.getByRole('option', { name: 'is dropped' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await question().getByText('Of the last 3 events of this pipeline 1 do not fit.').waitFor();
  await question().getByRole('button', { name: 'Keep' }).click();
  await question().waitFor({ state: 'detached' });
  expect(await admin.get(path)).toMatchObject({ on_violation: 'allow' });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await question().getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => admin.get(path)).toMatchObject({ on_violation: 'drop' });
});

test('the data layer is changed only after a question where the change drops events', async () => {
  await page.goto(`${service.url}/data-layer?open=routing_rules`);
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('combobox', { name: 'Field, condition 1, Condition of rule 1' }).fill('properties.total');
  await page.getByRole('combobox', { name: 'Operator, condition 1, Condition of rule 1' }).selectOption('gt');
  await page.getByRole('textbox', { name: 'Value, condition 1, Condition of rule 1' }).fill('8');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await question().getByText('Of the last 3 events of all pipelines 1 would be dropped.').waitFor();
  await question().getByRole('button', { name: 'Keep' }).click();
  await question().waitFor({ state: 'detached' });
  expect(await admin.get('/data-layer')).toMatchObject({ config: { routing_rules: [] } });
  await page.getByRole('button', { name: 'Discard' }).click();
});

test('the address holds the visitor of the consent tab', async () => {
  await page.goto(`${service.url}/pipelines/${pipeline.id}?tab=consent`);
  const row = page.getByRole('row').filter({ hasText: 'Warehouse' });
  await row.getByText('is sent').last().waitFor();
  await page.getByRole('checkbox', { name: 'ads' }).click();
  await row.getByText('not sent: no marketing').last().waitFor();
  await expect.poll(() => searchOf(page.url())).toEqual({ tab: 'consent', agreed: 'statistics' });
  await page.reload();
  await row.getByText('not sent: no marketing').last().waitFor();
  expect(await page.getByRole('checkbox', { name: 'ads' }).isChecked()).toBe(false);
});

test('the address holds the filter of rows and the pins of a mapping; events really seen are offered as entries', async () => {
  await page.goto(`${service.url}/templates/${integration.template_id}`);
  await page.getByRole('combobox', { name: 'Name of an event to map' }).fill('order');
  await page.getByRole('option', { name: 'Order Completed' }).click();
  await page.getByRole('region', { name: 'Order Completed' }).waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByLabel('Filter rows').fill('screen');
  await page.getByRole('textbox', { name: 'Target, row 1 of @screen → seen_screen' }).waitFor();
  await expect.poll(() => Object.values(searchOf(page.url()))).toContain('screen');
  await page.goto(page.url());
  await expect.poll(() => page.getByLabel('Filter rows').inputValue()).toBe('screen');
  await page.getByRole('button', { name: '1 pipeline', exact: true }).click();
  const pins = page.getByRole('dialog', { name: 'Pinned revisions' }).getByRole('link', { name: 'Web shop' });
  await pins.waitFor();
  await page.goto(page.url());
  await pins.waitFor();
  await page.goBack();
});

test('the request of a screen is made by the entry @screen (the preview looked for @page only)', async () => {
  await page.goto(`${service.url}/templates/${integration.template_id}`);
  await writeCode(page, 'Event', '{ "type": "page", "original_type": "screen", "name": "Basket" }');
  await page.getByRole('region', { name: 'Request' }).getByText('"Basket"').waitFor();
  await page.getByRole('textbox', { name: 'Target, row 1 of @screen → seen_screen' }).waitFor();
  expect(errors).toEqual([]);
});
