/** Installing a vendor and editing its mapping, in Chromium on the running service: fields of the form, entries, tables, revisions. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startConsole, writeCode } from './harness/console.ts';

const { service, page, admin, errors } = await startConsole();
let pipeline: { id: string; pipeline_key: string };

beforeAll(async () => {
  pipeline = await admin.post('/pipelines', { name: 'Web shop' });
});
afterEach(() => expect(errors).toEqual([]));

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

  test('is opened by a link with its event, saved as a test case, or with two revisions that are compared', async () => {
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
    expect(new URL(page.url()).searchParams.get('event')).toMatch(/^tc_/);
    await page.getByRole('button', { name: 'Delete the test case' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('event')).toBe(null);
    expect(await admin.get('/test-cases')).toMatchObject({ total: 0 });
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
