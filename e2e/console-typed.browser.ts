/** What was typed and is not saved is not lost by Escape or Back, and what a field shows is what is used. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { startConsole, writeCode } from './harness/console.ts';

const { service, page, admin, errors } = await startConsole();
let pipeline: string;
const questions: string[] = [];
page.on('dialog', (dialog) => {
  questions.push(dialog.message());
  void dialog.dismiss();
});

beforeAll(async () => {
  ({ id: pipeline } = await admin.post<{ id: string }>('/pipelines', { name: 'Web shop' }));
  const config = { url: 'https://vendor.example', events: { 'Order Completed': { vendor_event_name: 'order', mappings: [] } } };
  await admin.post('/integrations', { source_id: pipeline, vendor: 'webhook', name: 'Warehouse', config });
});
afterEach(() => {
  questions.length = 0;
  expect(errors).toEqual([]);
});

const dialog = () => page.getByRole('dialog');

test.each([
  ['pipeline', '/pipelines', 'New pipeline'],
  ['user', '/team', 'Add a user'],
  ['API token', '/team?tab=tokens', 'New token'],
])('the dialog of a new %s asks before Escape closes it (it closed with what was typed in it)', async (_what, path, open) => {
  await page.goto(`${service.url}${path}`);
  await page.getByRole('button', { name: open, exact: true }).click();
  const name = dialog().getByLabel('Name', { exact: true });
  await name.fill('Typed');
  await page.keyboard.press('Escape');
  await expect.poll(() => questions).toEqual([expect.stringContaining('Leave without saving?')]);
  expect(await name.inputValue()).toBe('Typed');
  await name.fill('');
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  expect(questions).toHaveLength(1);
});

test('Back from the dialog that saves a revision asks about the draft (it was lost)', async () => {
  await page.goto(`${service.url}/pipelines/${pipeline}?tab=integrations`);
  await page.getByRole('button', { name: 'Open the mapping' }).click();
  await page.getByLabel('Name at the vendor').fill('purchase');
  await page.getByRole('button', { name: 'Save as revision 2 …' }).click();
  await dialog().getByLabel('Summary').fill('Orders are purchases');
  await page.evaluate(() => history.back());
  await expect.poll(() => questions).toEqual([expect.stringContaining('Leave without saving?')]);
  await dialog().getByRole('button', { name: 'Save as revision 2' }).click();
  await page.getByText('Revision 2 is saved.').waitFor();
  expect(questions).toHaveLength(1);
});

test('a filter that the address holds keeps the caret (each key after the first went to the end)', async () => {
  for (const [path, label] of [
    ['/pipelines', 'Filter pipelines'],
    ['/team', 'Filter users'],
    ['/catalog', 'Search the catalog'],
  ] as const) {
    await page.goto(`${service.url}${path}`);
    const field = page.getByLabel(label, { exact: true });
    await field.pressSequentially('shop');
    await expect.poll(() => page.url()).toContain('q=shop');
    await field.press('Home');
    await field.pressSequentially('web ');
    await expect.poll(() => page.url()).toContain('q=web+shop');
    expect(await field.inputValue()).toBe('web shop');
  }
  // What changes the address elsewhere changes the field.
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await expect.poll(() => page.getByLabel('Search the catalog').inputValue()).toBe('');
});

test('a day of the audit log is typed by keyboard (the year was erased at each digit)', async () => {
  await page.goto(`${service.url}/audit`);
  const day = page.getByLabel('From');
  await day.focus();
  await page.keyboard.type('05312026');
  await expect.poll(() => page.url()).toContain('from=2026-05-31');
  expect(await day.inputValue()).toBe('2026-05-31');
  await page.goBack();
  await expect.poll(() => day.inputValue()).toBe('');
});

test('another pipeline takes the filter of a source away, which is of one pipeline (nothing matched both)', async () => {
  await page.goto(`${service.url}/dead-letters?source=whs_of_another`);
  await page.getByRole('combobox', { name: 'Pipeline' }).click();
  await page.getByRole('option', { name: 'Web shop' }).click();
  await expect.poll(() => new URL(page.url()).search).toBe(`?pipeline=${pipeline}`);
});

test('an event that cannot be read is not saved as a test case (the text before was saved)', async () => {
  await page.goto(`${service.url}/pipelines/${pipeline}?tab=integrations`);
  await page.getByRole('button', { name: 'Open the mapping' }).click();
  const save = page.getByRole('button', { name: 'Save as test case' });
  await save.waitFor();
  await writeCode(page, 'Event', '{"type":"track","event":"Order Com');
  await expect.poll(() => save.isEnabled()).toBe(false);
  await writeCode(page, 'Event', '{"type":"track","event":"Order Completed"}');
  await expect.poll(() => save.isEnabled()).toBe(true);
});

test('the result of code that was changed since says so (it looked like the result of what is shown)', async () => {
  const code = 'function transform(event) { return event; }';
  await admin.post(`/pipelines/${pipeline}/transformations`, { name: 'Tidy', kind: 'code', code });
  await page.goto(`${service.url}/pipelines/${pipeline}?tab=transformations`);
  const old = page.getByText('before your last change');
  await page.getByRole('button', { name: 'Try it on the sample event' }).click();
  await page.getByText(/^took/).waitFor();
  expect(await old.count()).toBe(0);
  await writeCode(page, 'Code', 'function transform() { return null; }');
  await old.waitFor();
  await page.getByRole('button', { name: 'Try it on the sample event' }).click();
  await old.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Discard' }).click();
  await old.waitFor();
});

test('a pinned revision that was emptied is asked for at its field (the question was about no revision)', async () => {
  await page.goto(`${service.url}/pipelines/${pipeline}?tab=integrations`);
  const revision = page.getByLabel('Pinned revision');
  const pinned = await revision.inputValue();
  await revision.fill('');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Enter the number of a revision.').waitFor();
  expect(await dialog().count()).toBe(0);
  await revision.fill(pinned);
});

test('a long filter does not make the page of a telephone scroll sideways (the hidden end of its text did)', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${service.url}/events?event=${'x'.repeat(200)}`);
  await page.getByRole('button', { name: /remove this filter/ }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});
