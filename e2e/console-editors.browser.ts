/** What people write in the console, in Chromium on the running service: rules, code, tracking plans, corrected events. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startConsole, writeCode } from './harness/console.ts';

const { service, page, admin, errors } = await startConsole();
let pipeline: { id: string; pipeline_key: string };

beforeAll(async () => {
  pipeline = await admin.post('/pipelines', { name: 'Web shop' });
});
afterEach(() => expect(errors).toEqual([]));

const write = (label: string, text: string) => writeCode(page, label, text);

describe('a rejected event that is being corrected', () => {
  test('is kept when the page cannot be read again, and is not left without a question', async () => {
    const send = () =>
      fetch(`${service.url}/v1/t`, {
        method: 'POST',
        headers: { authorization: `Bearer ${pipeline.pipeline_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'track', messageId: 'rejected-1', userId: 'u1' }),
      });
    await expect.poll(async () => (await send()).status).toBe(400);
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
  });
});
