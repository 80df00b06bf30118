/** What people write in the console, in Chromium on the running service: mapping entries, tables, rules, code, corrected events. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AdminClient } from '../packages/cli/src/demo/admin-client.ts';
import { type Console, startConsole, writeCode } from './harness/console.ts';
import type { Service } from './harness/service.ts';

let opened: Console;
let service: Service;
let page: Page;
let admin: AdminClient;
let pipeline: { id: string; pipeline_key: string };
let errors: string[];

beforeAll(async () => {
  opened = await startConsole();
  ({ service, page, admin, errors } = opened);
  pipeline = await admin.post('/pipelines', { name: 'Web shop' });
});
afterAll(() => opened?.stop());

const write = (label: string, text: string) => writeCode(page, label, text);
const choose = async (menu: string, item: string | RegExp) => {
  await page.getByRole('button', { name: menu }).click();
  await page.getByRole('menuitem', { name: item }).click();
};
const install = (name: string, config: object) =>
  admin.post<{ template: { id: string } }>('/integration-templates', {
    name,
    vendor: 'webhook',
    config: { url: 'https://example.com/hook', ...config },
  });
/** Saves the draft of the open mapping and returns what the service stored. */
async function saveMapping(template: string, revision: number): Promise<Record<string, unknown>> {
  await page.getByRole('button', { name: `Save as revision ${revision} …` }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Save as revision ${revision}` })
    .click();
  await page.getByText(`Revision ${revision} is saved.`).waitFor();
  await page.keyboard.press('Escape');
  return (await admin.get<{ config: Record<string, unknown> }>(`/integration-templates/${template}/revisions/${revision}`)).config;
}

test('a pasted private key keeps its lines (the field was a password input, which drops line breaks)', async () => {
  await page.goto(`${service.url}/catalog/sftp`);
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  const key = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----';
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /more settings/ }).click();
  const field = dialog.getByLabel('Private key', { exact: true });
  await field.click();
  await page.keyboard.insertText(key);
  expect(await field.inputValue()).toBe(key);
});

test('a path that is longer than its column stands whole in the mapping, on several lines', async () => {
  const path = (root: string) => `${root}.checkout.shipping.address_as_it_was_typed.street_and_number_of_the_house`;
  const { template } = await install('Long paths', {
    events: { 'Order Completed': { mappings: [{ source: path('properties'), target: path('customer') }] } },
  });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${service.url}/templates/${template.id}`);
  for (const label of ['Source', 'Target']) {
    const field = page.getByLabel(`${label}, row 1 of Order Completed`);
    await field.waitFor();
    const shown = await field.evaluate((input: HTMLInputElement) => {
      const whole = input.parentElement as HTMLElement;
      const { content, visibility } = getComputedStyle(whole, '::after');
      return {
        hasAll: content.replaceAll('\u200b', '').includes(input.value),
        visibility,
        fits: whole.scrollWidth <= whole.clientWidth,
        height: whole.clientHeight,
      };
    });
    expect(shown).toMatchObject({ hasAll: true, visibility: 'visible', fits: true });
    expect(shown.height, 'more than one line').toBeGreaterThan(40);
  }
  // What is typed in is a field of one line, as before.
  const target = page.getByLabel('Target, row 1 of Order Completed');
  await target.fill('customer.street');
  expect(await target.evaluate((input) => getComputedStyle(input.parentElement as HTMLElement, '::after').visibility)).toBe('hidden');
  await page.getByRole('button', { name: 'Discard' }).click();
});

test('a select, a number and a switch are filled from parameters of the pipeline; a template keeps its lines', async () => {
  await page.goto(`${service.url}/catalog/webhook`);
  await page.getByRole('button', { name: 'Install', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/^URL/).fill('https://example.com/hook');
  await dialog.getByRole('button', { name: /more settings/ }).click();
  const fromParameter = (label: string) => dialog.getByRole('button', { name: `Fill ${label} from a parameter of the pipeline` });
  await fromParameter('Batch events').click();
  await fromParameter('Batch size').click();
  // It stays a text field while its placeholder is typed.
  await dialog.getByLabel('Batch size', { exact: true }).fill('');
  await page.keyboard.type('{{pipeline_param.size}}');
  await fromParameter('Payload format').click();
  await fromParameter('Payload format').click();
  await dialog.getByRole('combobox', { name: 'Payload format' }).click();
  await page.getByRole('option', { name: 'custom' }).click();
  await dialog.getByLabel('Payload template', { exact: true }).click();
  await page.keyboard.insertText('{\n  "name": "{{event}}"\n}');
  await dialog.getByRole('button', { name: 'Install', exact: true }).click();
  await dialog.getByRole('button', { name: 'Open the mapping' }).click();
  await page.getByRole('region', { name: 'Mapping' }).waitFor();
  const template = page.url().split('/').at(-1)?.split('?')[0] ?? '';
  const { config } = await admin.get<{ config: object }>(`/integration-templates/${template}/revisions/1`);
  expect(config).toMatchObject({
    batch_enabled: '{{pipeline_param.batch_enabled}}',
    batch_size: '{{pipeline_param.size}}',
    payload_format: 'custom',
    payload_template: '{\n  "name": "{{event}}"\n}',
  });
});

describe('the mapping builder', () => {
  test('writes a whole entry: name, switch, filter, arguments, default, translation and condition of a row', async () => {
    const { template } = await install('Entries', {
      events: { 'Signed Up': { mappings: [{ source: 'properties.plan', target: 'plan' }] } },
    });
    await page.goto(`${service.url}/templates/${template.id}`);
    await page.getByRole('button', { name: /^Signed Up/ }).click();
    await page.getByRole('textbox', { name: 'Name at the vendor, Signed Up' }).fill('sign_up');
    const entry = 'Signed Up → sign_up';
    await page.getByRole('switch', { name: `${entry} is on` }).press('Space');
    await choose(`More for ${entry}`, /add a filter/);
    // Incomplete, so it opens by itself, and stays open.
    await page.getByRole('combobox', { name: `Field, condition 1, Filter of ${entry}` }).fill('properties.seats');
    await page.getByRole('combobox', { name: `Operator, condition 1, Filter of ${entry}` }).selectOption('in');
    await page.getByRole('textbox', { name: `Value, condition 1, Filter of ${entry}` }).fill('1, "2"');
    // A transform that needs arguments opens the place where they are filled in.
    const row = `row 1 of ${entry}`;
    await page.getByRole('combobox', { name: `Transforms, ${row}` }).fill('truncate');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: new RegExp(`of truncate, ${row}$`) }).fill('3');
    await page.getByRole('textbox', { name: `Default, ${row}` }).fill('free');
    await page.getByRole('button', { name: `Add a translation to ${row}` }).click();
    await page.getByRole('textbox', { name: `Value 1 to translate, ${row}` }).fill('pro');
    await page.getByRole('textbox', { name: `Translation 1, ${row}` }).fill('2');
    await page.getByRole('button', { name: `Add a condition to ${row}` }).click();
    await page.getByRole('combobox', { name: `Field, condition 1, Condition of ${row}` }).fill('user_id');
    await page.getByRole('combobox', { name: `Operator, condition 1, Condition of ${row}` }).selectOption('exists');
    await choose(`More for ${entry}`, /add an enrichment/);
    await page.getByRole('combobox', { name: `Source, enrichment 1 of ${entry}` }).fill('properties.tier');
    await page.getByRole('textbox', { name: `Target, enrichment 1 of ${entry}` }).fill('properties.plan');
    expect((await saveMapping(template.id, 2)).events).toEqual({
      'Signed Up': {
        vendor_event_name: 'sign_up',
        enabled: false,
        filter: { all: [{ field: 'properties.seats', op: 'in', value: [1, '2'] }] },
        enrichments: [{ source: 'properties.tier', target: 'properties.plan' }],
        mappings: [
          {
            source: 'properties.plan',
            target: 'plan',
            transforms: [{ name: 'truncate', args: [3] }],
            default: 'free',
            value_map: { pro: 2 },
            when: { all: [{ field: 'user_id', op: 'exists' }] },
          },
        ],
      },
    });
  });

  test('orders rows by dragging and by keyboard, and the focus goes with the row', async () => {
    const mappings = ['a', 'b', 'c'].map((name) => ({ source: `properties.${name}`, target: name }));
    const { template } = await install('Ordered', { events: { 'Signed Up': { mappings } } });
    await page.goto(`${service.url}/templates/${template.id}`);
    await page.getByRole('button', { name: /^Signed Up/ }).click();
    const target = (at: number) => page.getByRole('textbox', { name: `Target, row ${at} of Signed Up` });
    const order = () => Promise.all([1, 2, 3].map((at) => target(at).inputValue()));
    const handle = page.getByRole('button', { name: 'Actions for row 1 of Signed Up' });
    await handle.press('Enter');
    await page.getByRole('menuitem', { name: 'Remove' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => handle.evaluate((button) => button === document.activeElement)).toBe(true);
    await handle.dragTo(target(3));
    await expect.poll(order).toEqual(['b', 'c', 'a']);
    await target(3).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await expect.poll(order).toEqual(['b', 'a', 'c']);
    await expect.poll(() => target(2).evaluate((field) => field === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('has rows for everything else, and an entry as JSON that the compiler checks as it is typed', async () => {
    const { template } = await install('Defaults', { events: { 'Signed Up': { mappings: [] } } });
    await page.goto(`${service.url}/templates/${template.id}`);
    await page.getByRole('combobox', { name: 'What happens to other events' }).click();
    await page.getByRole('option', { name: 'is mapped with these rows' }).click();
    await page.getByRole('button', { name: 'Add a row to Everything else' }).click();
    await page.getByRole('combobox', { name: 'Source, row 1 of Everything else' }).fill('event');
    await page.getByRole('textbox', { name: 'Target, row 1 of Everything else' }).fill('name');
    await choose('More for Signed Up', 'Edit as JSON');
    const dialog = page.getByRole('dialog', { name: 'Signed Up as JSON' });
    await write('Signed Up as JSON', '{\n  "mappings": [],\n  "filter": { "field": "a", "op": "is" }\n}');
    await dialog.getByText('An operator is one of').waitFor();
    expect(await dialog.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
    await write('Signed Up as JSON', '{\n  "mappings": []\n  "enabled": true\n}');
    // Where the text stops being JSON: below its third line.
    await dialog.locator('.cm-line.cm-faultLine').getByText('"enabled"').waitFor();
    await write('Signed Up as JSON', '{"mappings": [], "vendor_event_name": "registered"}');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: /^Signed Up → registered/ }).waitFor();
    expect(await saveMapping(template.id, 2)).toMatchObject({
      events: { 'Signed Up': { mappings: [], vendor_event_name: 'registered' } },
      defaults: { action: 'map', mappings: [{ source: 'event', target: 'name' }] },
    });
  });

  test('tries a draft against the revision that the chosen pipeline uses, and lists what differs from it', async () => {
    const { template } = await install('Tried', { events: { 'Order Completed': { mappings: [{ source: 'event', target: 'first' }] } } });
    const use = (id: string) => admin.post<{ id: string }>(`/pipelines/${id}/integrations`, { template_id: template.id });
    await use(pipeline.id);
    await admin.post(`/integration-templates/${template.id}/revisions`, {
      config: { url: 'https://example.com/hook', events: { 'Order Completed': { mappings: [{ source: 'event', target: 'second' }] } } },
    });
    const other = await admin.post<{ id: string; pipeline_key: string }>('/pipelines', { name: 'Second shop' });
    const newer = await use(other.id);
    for (const [key, id] of [
      [pipeline.pipeline_key, 'tried-1'],
      [other.pipeline_key, 'tried-2'],
    ] as const)
      await expect
        .poll(async () => {
          const body = JSON.stringify({ type: 'track', event: 'Order Completed', messageId: id, userId: 'u' });
          const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
          return (await fetch(`${service.url}/v1/t`, { method: 'POST', headers, body })).status;
        })
        .toBe(200);
    for (const { id } of [pipeline, other])
      await expect.poll(async () => (await admin.get<{ total: number }>(`/events?pipeline_id=${id}`)).total).toBe(1);
    await page.goto(`${service.url}/templates/${template.id}`);
    const effect = page.getByRole('region', { name: 'Effect on recent events' });
    const changes = effect.getByRole('list', { name: 'Changes' });
    // The latest revision is open, and the first pipeline still uses the one before.
    await changes.getByText('event → first').waitFor();
    await effect.getByRole('button', { name: 'Try on the last 1 events' }).click();
    await effect.getByRole('button', { name: '1 changed' }).click();
    await page.getByRole('dialog').getByText('"first"').waitFor();
    await page.keyboard.press('Escape');
    await effect.getByRole('combobox', { name: 'Compare with the revision in use by' }).click();
    await page.getByRole('option', { name: /Second shop/ }).click();
    await effect.getByText('0 changes').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('integration')).toBe(newer.id);
    await page.getByRole('textbox', { name: 'Target, row 1 of Order Completed' }).fill('third');
    await changes.getByText('event → second').waitFor();
    await effect.getByRole('button', { name: 'Try on the last 1 events' }).click();
    await effect.getByRole('button', { name: '1 changed' }).waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    // A row for another event: this one stays as it is, and its number opens it too.
    await page.getByLabel('Name of an event to map').fill('Signed Up');
    await page.getByRole('button', { name: 'Map it' }).click();
    await effect.getByRole('button', { name: 'Try on the last 1 events' }).click();
    await effect.getByRole('button', { name: '1 unchanged' }).click();
    await page.getByRole('dialog', { name: 'Events unchanged' }).getByRole('link').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).click();
  });
});

describe('a field that is a table', () => {
  test('has rows and columns, faults at their cells, and is edited the same way in the builder', async () => {
    await page.goto(`${service.url}/catalog/adjust`);
    await page.getByRole('button', { name: 'Install', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('App token').fill('4w565xzmb54d');
    const add = dialog.getByRole('button', { name: 'Add a row to Event tokens' });
    await add.click();
    await add.click();
    const cell = (column: string, row: number) => page.getByRole('textbox', { name: `${column}, row ${row} of Event tokens` });
    await cell('Event', 1).fill('Order Completed');
    await cell('Event token', 1).fill('f0ob4r');
    await cell('Event', 2).fill('Signed Up');
    await dialog.getByRole('button', { name: 'Install', exact: true }).click();
    // The API's fault stands at its cell.
    await expect.poll(() => cell('Event token', 2).getAttribute('aria-invalid')).toBe('true');
    expect(await cell('Event token', 1).getAttribute('aria-invalid')).not.toBe('true');
    await dialog.getByRole('button', { name: 'Remove row 1 of Event tokens' }).click();
    await cell('Event token', 1).fill('abc123');
    await dialog.getByRole('button', { name: 'Install', exact: true }).click();
    await dialog.getByRole('button', { name: 'Open the mapping' }).click();
    await page.getByRole('button', { name: 'Edit the parameters' }).click();
    expect(await cell('Event', 1).inputValue()).toBe('Signed Up');
    await cell('Event token', 1).fill('not a token');
    await expect.poll(() => cell('Event token', 1).getAttribute('aria-invalid')).toBe('true');
    await cell('Event token', 1).fill('def456');
    const template = page.url().split('/').at(-1)?.split('?')[0] ?? '';
    expect(await saveMapping(template, 2)).toMatchObject({ event_tokens: [{ event: 'Signed Up', event_token: 'def456' }] });
  });
});

describe('a rejected event that is being corrected', () => {
  test('is kept when the page cannot be read again, and is not left without a question', async () => {
    const rejected = await fetch(`${service.url}/v1/t`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pipeline.pipeline_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'track', messageId: 'rejected-1', userId: 'u1' }),
    });
    expect(rejected.status).toBe(400);
    const letters = () => admin.get<{ dead_letters: { id: string }[] }>('/dlq?stage=ingest');
    await expect.poll(async () => (await letters()).dead_letters.length).toBe(1);
    const id = (await letters()).dead_letters[0]?.id;
    await page.goto(`${service.url}/dead-letters?selected=${id}`);
    const editor = page.getByRole('textbox', { name: 'The event, to be corrected' });
    await write('The event, to be corrected', '{"type":"track","event":"Corrected","userId":"u1"}');
    await page.route('**/v1/admin/dlq/**', (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ status: 500, json: { error: { code: 'INTERNAL', message: 'Broken.' } } })
        : route.continue(),
    );
    // The browser says that it is online again, so everything that is old is read again.
    await expect
      .poll(async () => {
        await page.evaluate(() => ['offline', 'online'].map((name) => dispatchEvent(new Event(name))));
        return page.getByText('could not be read just now').count();
      })
      .toBe(2);
    expect(await editor.innerText()).toContain('Corrected');
    await page.unroute('**/v1/admin/dlq/**');
    const questions: string[] = [];
    const answer = (accept: boolean) =>
      page.once('dialog', (dialog) => {
        questions.push(dialog.message());
        void (accept ? dialog.accept() : dialog.dismiss());
      });
    answer(false);
    await page.getByRole('link', { name: 'Sources' }).click();
    expect(await editor.innerText()).toContain('Corrected');
    // A filter keeps the correction open, so there is nothing to ask.
    await page.getByRole('radiogroup', { name: 'State' }).getByText('replayed').click();
    await expect.poll(() => page.url()).toContain('status=replayed');
    expect([questions, await editor.innerText()]).toEqual([
      [expect.stringContaining('Leave without saving?')],
      expect.stringContaining('Corrected'),
    ]);
    await page.getByRole('button', { name: 'Send the corrected event' }).click();
    await page.getByText('The corrected event was accepted.').waitFor();
    await page.getByRole('link', { name: 'Sources' }).click();
    await page.getByRole('heading', { name: 'Sources', exact: true }).waitFor();
    expect(questions).toHaveLength(1);
  });
});

describe('faults of what is written', () => {
  test('routing rules are a form; what the API refuses stands at its field and goes when it is mended', async () => {
    await page.goto(`${service.url}/data-layer`);
    await page.getByRole('button', { name: /^Routing/ }).click();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByRole('combobox', { name: 'Field, condition 1, Condition of rule 1' }).fill('context.page.url[');
    await page.getByRole('combobox', { name: 'Operator, condition 1, Condition of rule 1' }).selectOption('contains');
    await page.getByRole('textbox', { name: 'Value, condition 1, Condition of rule 1' }).fill('/checkout');
    await page.getByRole('button', { name: 'Add a condition, Condition of rule 1' }).click();
    await page.getByRole('combobox', { name: 'Field, condition 2, Condition of rule 1' }).fill('properties.total');
    await page.getByRole('combobox', { name: 'How the conditions combine, Condition of rule 1' }).selectOption('any');
    await page.getByRole('combobox', { name: 'Operator, condition 2, Condition of rule 1' }).selectOption('gt');
    await page.getByRole('textbox', { name: 'Value, condition 2, Condition of rule 1' }).fill('100');
    await page.getByLabel('Pipelines of rule 1').first().click();
    await page.getByRole('option', { name: 'Web shop' }).click();
    await page.getByRole('button', { name: /^Custom code/ }).click();
    await page.getByRole('switch', { name: 'Run it' }).click();
    await write('Custom code', 'function transform(event) {\n  return event }}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const field = page.getByRole('combobox', { name: 'Field, condition 1, Condition of rule 1' });
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('context.page.url');
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('false');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    // Only the sandbox of the service knows the syntax of code: its message stands at the line.
    await page.locator('.cm-line.cm-faultLine').getByText('return event }}').waitFor();
    await write('Custom code', 'function transform(event) { return event }');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('New events are processed this way').waitFor();
    const { config } = await admin.get<{ config: { routing_rules: unknown } }>('/data-layer');
    expect(config.routing_rules).toEqual([
      {
        action: 'drop',
        pipeline_ids: [pipeline.id],
        condition: {
          any: [
            { field: 'context.page.url', op: 'contains', value: '/checkout' },
            { field: 'properties.total', op: 'gt', value: 100 },
          ],
        },
      },
    ]);
    // The sample order is above 100, so the rule drops it in its pipeline.
    await page.getByRole('combobox', { name: 'In the pipeline' }).click();
    await page.getByRole('option', { name: 'Web shop' }).click();
    await page.getByRole('region', { name: 'Effect on an event' }).getByText('dropped: routing rule').waitFor();
  });

  test('settings of bots and identity show their effect on a sample that they concern; the address holds the sample', async () => {
    await page.goto(`${service.url}/data-layer?open=bot_filtering,identity`);
    const effect = page.getByRole('region', { name: 'Effect on an event' });
    await page.getByRole('button', { name: 'See the effect on: a crawler’s page view' }).click();
    await effect.getByText('+ context.bot').waitFor();
    await page.getByRole('combobox', { name: 'What happens to them' }).click();
    await page.getByRole('option', { name: 'Drop them' }).click();
    await effect.getByText('dropped: bot').waitFor();
    await page.getByRole('button', { name: 'See the effect on: an order of a visitor who came back' }).first().click();
    await effect.getByText('+ user_id').waitFor();
    await page.getByLabel('Traits to remember').first().fill('email');
    await page.keyboard.press('Enter');
    await effect.getByText('+ traits.email').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('sample')).toBe('returning');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.reload();
    await effect.getByText('+ user_id').waitFor();
    await page.getByLabel('Traits to remember').first().waitFor();
  });

  test('the plan, rules and code of a pipeline show their faults at the line', async () => {
    const marked = (text: string) => page.locator('.cm-line.cm-faultLine').getByText(text);
    await page.goto(`${service.url}/pipelines/${pipeline.id}?tab=tracking-plan`);
    await write('Tracking plan', '{\n  "Order.Completed": {\n    "type": "numbre"\n  }\n}');
    await marked('"numbre"').waitFor();
    await page.getByRole('textbox', { name: 'Tracking plan', exact: true }).getByRole('alert').waitFor();
    await write('Tracking plan', '{}');
    await admin.post(`/pipelines/${pipeline.id}/transformations`, {
      name: 'Tidy',
      kind: 'rules',
      rules: [{ type: 'delete', target: 'properties.debug' }],
    });
    await page.goto(`${service.url}/pipelines/${pipeline.id}?tab=transformations`);
    await page.getByRole('region', { name: 'Tidy' }).waitFor();
    // Rules are tried in the browser as they are typed: nothing is asked of the service.
    const result = page.getByRole('region', { name: 'Result' });
    let asked = 0;
    page.on('request', (request) => (asked += request.url().endsWith('/transformations/test') ? 1 : 0));
    await write('Sample event', '{ "type": "track", "event": "Order Completed", "properties": { "total": 42, "debug": true } }');
    await write('Rules', '[{ "type": "set", "target": "properties.shop", "value": "berlin" }]');
    await result.getByText('"berlin"').waitFor();
    await write('Rules', '[{ "type": "filter", "condition": { "field": "event", "op": "eq", "value": "Signed Up" } }]');
    await result.getByText('The event ends here.').waitFor();
    expect(asked).toBe(0);
    await write('Rules', '[\n  {\n    "type": "delete",\n    "target": "event_id"\n  }\n]');
    await marked('"event_id"').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('combobox', { name: 'Kind' }).click();
    await page.getByRole('option', { name: 'code' }).click();
    await write('Code', 'function transform(event) {\n  return }}');
    const saveAndConfirm = async () => {
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const question = page.getByRole('dialog', { name: 'Change Tidy?' });
      await question.getByText('In the last 24 hours the pipeline processed').waitFor();
      await question.getByRole('button', { name: 'Save' }).click();
      await question.waitFor({ state: 'detached' });
    };
    await saveAndConfirm();
    await marked('return }}').waitFor();
    await write('Code', 'function transform(event) {\n  throw new Error("out of stock");\n}');
    await page.getByRole('button', { name: 'Try it on the sample event' }).click();
    await marked('out of stock').waitFor();
    await page.getByLabel('Only these events').first().fill('Order Completed');
    await page.keyboard.press('Enter');
    // The suggestions, which lie over the code, close by themselves.
    await page.getByRole('option', { name: '@page' }).waitFor({ state: 'hidden' });
    await write('Code', 'function transform(event) { return event; }');
    await saveAndConfirm();
    await page.getByText('New events go through it').waitFor();
    const { transformations } = await admin.get<{ transformations: unknown[] }>(`/pipelines/${pipeline.id}/transformations`);
    expect(transformations).toMatchObject([{ kind: 'code', event_filter: { event_names: ['Order Completed'] } }]);
    expect(errors).toEqual([]);
  });
});

describe('a link to a view', () => {
  test('holds the transformation and the sample event, and keeps what is typed', async () => {
    const path = `/pipelines/${pipeline.id}/transformations`;
    const code = 'function transform(event) { return event }';
    for (const name of ['First step', 'Second step']) await admin.post(path, { name, kind: 'code', code });
    const event = { type: 'track', event: 'Trial Started', properties: { plan: 'pro' } };
    const saved = await admin.post<{ id: string }>('/test-cases', { name: 'A trial', pipeline_id: pipeline.id, event });
    await page.goto(`${service.url}/pipelines/${pipeline.id}?tab=transformations`);
    await page.getByRole('button', { name: /Second step/ }).dragTo(page.getByRole('button', { name: /First step/ }));
    const steps = page.getByRole('region', { name: 'Order' }).getByRole('button', { name: /(First|Second) step/ });
    await expect
      .poll(async () => (await steps.allInnerTexts()).map((text) => /\w+ step/.exec(text)?.[0]))
      .toEqual(['Second step', 'First step']);
    await steps.first().click();
    await page.getByLabel('Name', { exact: true }).fill('Second step, renamed');
    await page.getByRole('combobox', { name: 'Choose an event' }).click();
    await page.getByRole('option', { name: 'A trial' }).click();
    await page.getByRole('textbox', { name: 'Sample event' }).getByText('"Trial Started"').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Second step, renamed');
    await expect.poll(() => new URL(page.url()).searchParams.get('event')).toBe(saved.id);
    const link = page.url();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByRole('region', { name: 'Second step' }).waitFor();
    await page.getByRole('textbox', { name: 'Sample event' }).getByText('"Trial Started"').waitFor();
    await page.getByRole('button', { name: 'Try it on the sample event' }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('took').waitFor();
  });

  test('holds the event of a mapping, saved as a test case, and the two revisions that are compared', async () => {
    const { template } = await install('Linked', { events: { 'Signed Up': { mappings: [{ source: 'user_id', target: 'id' }] } } });
    await page.goto(`${service.url}/templates/${template.id}`);
    await write('Event', '{ "type": "track", "event": "Signed Up", "user_id": "u_77" }');
    await page.getByRole('button', { name: 'Save as test case' }).click();
    await page.getByLabel('Name of the test case').fill('A sign-up');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('event')).toMatch(/^tc_/);
    await page.goto(page.url());
    await page.getByRole('region', { name: 'Request' }).getByText('u_77').waitFor();
    await expect.poll(() => page.getByRole('combobox', { name: 'Choose an event' }).inputValue()).toBe('A sign-up');
    await page.getByRole('textbox', { name: /^Target, row 1 of Signed Up/ }).fill('user');
    await saveMapping(template.id, 2);
    await page.goto(`${service.url}/templates/${template.id}?compare=1,2`);
    const dialog = page.getByRole('dialog', { name: 'History' });
    await dialog.getByLabel('Left').getByText('"target": "id"').waitFor();
    await dialog.getByLabel('Right').getByText('"target": "user"').waitFor();
    await dialog.getByRole('combobox', { name: 'with' }).click();
    await page.getByRole('option', { name: 'Your draft' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('compare')).toBe('1,draft');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  test('holds an entry of the audit log with the lines that it changed', async () => {
    await admin.put('/data-layer', { config: { pii_rules: { ip: 'drop' } } });
    await page.goto(`${service.url}/audit?action=data_layer.updated`);
    await page.getByRole('link', { name: 'pii_rules' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'data_layer.updated' });
    await dialog.getByLabel('Right').getByText('"ip": "drop"').waitFor();
    const id = new URL(page.url()).searchParams.get('selected');
    // A day without entries: the list has none, the link still opens the entry.
    await page.goto(`${service.url}/audit?to=2020-01-01&selected=${id}`);
    await page.getByText('No entry matches').waitFor();
    await dialog.getByLabel('Right').getByText('"ip": "drop"').waitFor();
    await page.goBack();
    expect(errors).toEqual([]);
  });
});
