/** Two people who edit the same thing at once, in Chromium on the running service. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startConsole, writeCode } from './harness/console.ts';

const { service, page, admin, errors } = await startConsole();
let pipeline: string;

beforeAll(async () => {
  ({ id: pipeline } = await admin.post<{ id: string }>('/pipelines', { name: 'Web shop' }));
});
afterEach(() => expect(errors).toEqual([]));

const conflict = () => page.getByRole('alert').filter({ hasText: 'Somebody else has changed' });
const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
/** A change that concerns events is saved after a question. */
async function saveAndConfirm(): Promise<void> {
  await save();
  const question = page.getByRole('dialog').filter({ hasText: 'In the last 24 hours the pipeline processed' });
  await question.getByRole('button', { name: 'Save' }).click();
  await question.waitFor({ state: 'detached' });
}
const write = (label: string, text: string) => writeCode(page, label, text);

describe('two people who edit the same thing', () => {
  test('see each other’s data layer, and one can take the other’s', async () => {
    await page.goto(`${service.url}/data-layer`);
    await page.getByRole('button', { name: 'Add a category' }).click();
    await page.getByLabel('Raw category').last().fill('mine');
    await admin.put('/data-layer', { config: { consent: { mapping: { theirs: 'analytics' } } } });
    await save();
    await conflict().waitFor();
    expect(await page.getByLabel('Left').innerText()).toContain('theirs');
    expect(await page.getByLabel('Right').innerText()).toContain('mine');
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await expect.poll(() => page.getByLabel('Raw category').first().inputValue()).toBe('theirs');
  });

  test('see each other’s tracking plan, and a newer version does not replace what is being typed', async () => {
    const path = `/pipelines/${pipeline}/tracking-plan`;
    await page.goto(`${service.url}/pipelines/${pipeline}?tab=tracking-plan`);
    await write('Tracking plan', '{"Mine": {"type": "object"}}');
    await admin.put(path, { events: { Theirs: { type: 'object' } } });
    await save();
    await conflict().waitFor();
    expect(await page.getByLabel('Left').innerText()).toContain('Theirs');
    await page.getByRole('button', { name: 'Replace theirs with mine' }).click();
    await conflict().waitFor({ state: 'detached' });
    expect(await admin.get(path)).toMatchObject({ events: { Mine: { type: 'object' } } });
  });

  test('see each other’s code, and a draft is kept while another transformation is open', async () => {
    const path = `/pipelines/${pipeline}/transformations`;
    const code = 'function transform(event) { return event; }';
    const { id } = await admin.post<{ id: string }>(path, { name: 'First', kind: 'code', code });
    await admin.post(path, { name: 'Second', kind: 'code', code });
    await page.goto(`${service.url}/pipelines/${pipeline}?tab=transformations`);
    await page.getByRole('region', { name: 'First' }).waitFor();
    await write('Code', 'function transform(event) { event.mine = 1; return event; }');
    await page.getByRole('button', { name: /^2\. Second/ }).click();
    await page.getByRole('region', { name: 'Second' }).waitFor();
    await page.getByRole('button', { name: /^1\. First.*unsaved/ }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Code', exact: true }).innerText()).toContain('event.mine');
    await admin.put(`${path}/${id}`, { code: 'function transform(event) { event.theirs = 1; return event; }' });
    await saveAndConfirm();
    await conflict().waitFor();
    expect([await page.getByLabel('Left').innerText(), await page.getByLabel('Right').innerText()]).toEqual([
      expect.stringContaining('theirs'),
      expect.stringContaining('mine'),
    ]);
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Code', exact: true }).innerText()).toContain('event.theirs');
  });

  test('go on after their own reorder: it is no conflict, and what is typed during a save stays', async () => {
    const own = await admin.post<{ id: string }>('/pipelines', { name: 'Reorder' });
    const path = `/pipelines/${own.id}/transformations`;
    const code = 'function transform(event) { return event; }';
    await admin.post(path, { name: 'Other', kind: 'code', code });
    const { id } = await admin.post<{ id: string }>(path, { name: 'Reordered', kind: 'code', code });
    await page.goto(`${service.url}/pipelines/${own.id}?tab=transformations`);
    await page.getByRole('button', { name: /Reordered/ }).click();
    await write('Code', `${code} // mine`);
    await page.getByRole('button', { name: /Reordered/ }).press('Alt+ArrowUp');
    await page.getByRole('button', { name: /^1\. Reordered/ }).waitFor();
    // The answer waits until more is typed.
    let typed = () => {};
    const more = new Promise<void>((resolve) => {
      typed = resolve;
    });
    await page.route(`**${path}/${id}`, async (route) => {
      const answer = await route.fetch();
      await more;
      await route.fulfill({ response: answer });
    });
    await saveAndConfirm();
    await expect.poll(async () => (await admin.get<{ code: string }>(`${path}/${id}`)).code).toBe(`${code} // mine`);
    await write('Code', `${code} // more`);
    typed();
    await page.getByText('Saved. New events').waitFor();
    expect(await page.getByRole('textbox', { name: 'Code', exact: true }).innerText()).toContain('// more');
    expect(await conflict().count()).toBe(0);
    await page.unroute(`**${path}/${id}`);
    await saveAndConfirm();
    await expect.poll(async () => (await admin.get<{ code: string }>(`${path}/${id}`)).code).toBe(`${code} // more`);
  });

  test('move a transformation with the keyboard, and try it with its logs and the line of an error', async () => {
    await page.goto(`${service.url}/pipelines/${pipeline}?tab=transformations`);
    await page.getByRole('button', { name: /^2\. Second/ }).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await page.getByRole('button', { name: /^1\. Second/ }).click();
    await page.getByRole('region', { name: 'Second' }).waitFor();
    await write('Code', 'function transform(event) {\n  console.log("seen");\n  throw new Error("out of stock");\n}');
    await page.getByRole('button', { name: 'Try it on the sample event' }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await expect.poll(() => result.innerText()).toMatch(/line 3.*out of stock/s);
    await result.getByText('seen').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
  });

  test('see how each other reads a source; switching it off meanwhile is no conflict', async () => {
    const path = '/webhook-sources';
    const { id } = await admin.post<{ id: string }>(path, { name: 'Orders', pipeline_id: pipeline, source_type: 'custom' });
    await page.goto(`${service.url}/sources?selected=${id}`);
    await write('How it is read', '{"event_type_path": "$.mine"}');
    await admin.put(`${path}/${id}`, { enabled: false });
    await save();
    await page.getByText('New events are read this way').waitFor();
    expect(await admin.get(`${path}/${id}`)).toMatchObject({ event_type_path: '$.mine', enabled: false });
    await write('How it is read', '{"event_type_path": "$.mine_again"}');
    await admin.put(`${path}/${id}`, { event_type_path: '$.theirs' });
    await save();
    await conflict().waitFor();
    expect(await page.getByLabel('Left').innerText()).toContain('$.theirs');
    expect(await page.getByLabel('Right').innerText()).toContain('$.mine_again');
    await page.getByRole('button', { name: 'Replace theirs with mine' }).click();
    await conflict().waitFor({ state: 'detached' });
    expect(await admin.get(`${path}/${id}`)).toMatchObject({ event_type_path: '$.mine_again' });
  });

  test('see each other’s settings of an integration; another field that changes meanwhile is no conflict', async () => {
    const config = { url: 'https://hooks.example/in' };
    const made = await admin.post<{ id: string }>('/integrations', { source_id: pipeline, vendor: 'webhook', name: 'Hook', config });
    const path = `/pipelines/${pipeline}/integrations/${made.id}`;
    await page.goto(`${service.url}/pipelines/${pipeline}?tab=integrations&integration=${made.id}`);
    const daily = page.getByLabel('Requests/day');
    await daily.fill('100');
    await admin.put(path, { enabled: false, max_deliverers: 2 });
    await save();
    await page.getByText('The change is in force within five seconds').waitFor();
    expect(await admin.get(path)).toMatchObject({ rate_limit_daily: 100, enabled: false, max_deliverers: 2 });
    await expect.poll(() => page.getByLabel('Deliverers').inputValue()).toBe('2');
    await daily.fill('200');
    await admin.put(path, { rate_limit_daily: 300 });
    await save();
    await conflict().waitFor();
    expect(await page.getByLabel('Left').innerText()).toContain('300');
    expect(await page.getByLabel('Right').innerText()).toContain('200');
    expect(await daily.inputValue()).toBe('200');
    await page.getByRole('button', { name: 'Replace theirs with mine' }).click();
    await conflict().waitFor({ state: 'detached' });
    expect(await admin.get(path)).toMatchObject({ rate_limit_daily: 200, max_deliverers: 2 });
    await daily.fill('400');
    await admin.put(path, { rate_limit_daily: 500 });
    await save();
    await page.getByRole('button', { name: 'Take theirs' }).click();
    await conflict().waitFor({ state: 'detached' });
    await expect.poll(() => daily.inputValue()).toBe('500');
  });

  test('see each other’s name of the organisation', async () => {
    await page.goto(`${service.url}/settings`);
    const panel = page.getByRole('region', { name: 'Organisation' });
    await panel.getByLabel('Name').fill('Named by me');
    await admin.put('/organisation', { name: 'Named by them' });
    await panel.getByRole('button', { name: 'Save' }).click();
    await conflict().waitFor();
    expect(await page.getByLabel('Left').innerText()).toContain('Named by them');
    expect(await panel.getByLabel('Name').inputValue()).toBe('Named by me');
    await page.getByRole('button', { name: 'Replace theirs with mine' }).click();
    await conflict().waitFor({ state: 'detached' });
    expect(await admin.get('/organisation')).toMatchObject({ name: 'Named by me' });
  });

  test('see each other’s alert, and the form keeps what was typed', async () => {
    const alert = { name: 'Silence', kind: 'silent', threshold: 1, window_minutes: 5, channels: [{ type: 'email', to: 'a@shop.example' }] };
    const { id } = await admin.post<{ id: string }>('/alerts', alert);
    await page.goto(`${service.url}/settings?alert=${id}`);
    const dialog = page.getByRole('dialog', { name: 'Change the alert' });
    await dialog.getByLabel('Name').fill('Mine');
    // The form does not have this part: to turn it off is no conflict with what is typed here.
    await admin.put(`/alerts/${id}`, { enabled: false });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await admin.get(`/alerts/${id}`)).toMatchObject({ name: 'Mine', enabled: false });
    await page.goto(`${service.url}/settings?alert=${id}`);
    await dialog.getByLabel('Name').fill('Mine again');
    await admin.put(`/alerts/${id}`, { name: 'Theirs' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await conflict().waitFor();
    expect(await page.getByLabel('Left').innerText()).toContain('Theirs');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Mine again');
    await page.getByRole('button', { name: 'Replace theirs with mine' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await admin.get(`/alerts/${id}`)).toMatchObject({ name: 'Mine again' });
  });

  test('see each other’s settings of a pipeline', async () => {
    await page.goto(`${service.url}/pipelines/${pipeline}?tab=settings`);
    await page.getByLabel('Name').fill('Named by me');
    await admin.put(`/pipelines/${pipeline}`, { name: 'Named by them' });
    await save();
    await conflict().waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Named by me');
    await page.getByRole('button', { name: 'Replace theirs with mine' }).click();
    await page.getByRole('heading', { name: 'Named by me' }).waitFor();
  });
});
