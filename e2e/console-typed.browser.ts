/** What was typed and is not saved is not lost by Escape or Back, and a secret that is shown once does not vanish by a slip. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { startConsole } from './harness/console.ts';

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
