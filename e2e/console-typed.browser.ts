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
