/** The panel of an event says what really happened: the revision that sent it, and what each step changed. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { AdminClient } from '../packages/cli/src/demo/admin-client.ts';
import { type Console, startConsole } from './harness/console.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import type { Service } from './harness/service.ts';

let opened: Console;
let service: Service;
let page: Page;
let admin: AdminClient;
let receiver: Receiver;
let pipeline: { id: string; pipeline_key: string };
let hook: { id: string; template_id: string };

beforeAll(async () => {
  [opened, receiver] = await Promise.all([startConsole({ RETRY_BASE: '100ms' }), startReceiver()]);
  ({ service, page, admin } = opened);
  pipeline = await admin.post('/pipelines', { name: 'Web shop', parameters: { shop: 'north' } });
  const config = { url: receiver.url, headers: { 'x-shop': '{{pipeline_param.shop}}', 'x-version': 'first' } };
  hook = await admin.post('/integrations', { source_id: pipeline.id, vendor: 'webhook', name: 'Hook', config });
});
afterAll(async () => {
  await receiver?.close();
  await opened?.stop();
});

/** A new pipeline is in force within seconds. */
async function send(messageId: string, of: object = {}): Promise<void> {
  const headers = { authorization: `Bearer ${pipeline.pipeline_key}`, 'content-type': 'application/json', 'user-agent': 'Shop/1.0' };
  const body = JSON.stringify({ type: 'track', event: 'Order Completed', messageId, properties: { total: 7 }, ...of });
  const accepted = async () => (await fetch(`${service.url}/v1/t`, { method: 'POST', headers, body })).status === 200;
  await vi.waitUntil(accepted, { timeout: 15_000, interval: 100 });
}
const panel = () => page.getByRole('region', { name: 'Event', exact: true });
const arrived = (id: string) => receiver.requests.filter(({ body }) => body.includes(id));

test('the request of an event is the one of the revision that sent it, also after another is pinned', async () => {
  await send('order-1');
  await vi.waitUntil(() => arrived('order-1').length === 1, { timeout: 30_000, interval: 50 });
  const config = { url: receiver.url, headers: { 'x-shop': '{{pipeline_param.shop}}', 'x-version': 'second' } };
  const { revision_number } = await admin.post<{ revision_number: number }>(`/integration-templates/${hook.template_id}/revisions`, {
    config,
    change_summary: 'Another header',
  });
  expect(revision_number).toBe(2);
  await admin.put(`/pipelines/${pipeline.id}/integrations/${hook.id}`, { revision_number });
  await page.goto(`${service.url}/events?selected=order-1&request=${hook.id}`);
  await panel().getByText('Built by revision 1, which sent it. Revision 2 is pinned now. Attempt 1.').waitFor();
  await panel().getByText('x-version: first').waitFor();
  expect(arrived('order-1')[0]?.headers).toMatchObject({ 'x-version': 'first', 'x-shop': 'north' });
  await panel().getByText('The parameters of the pipeline have not changed since.').waitFor();
  await admin.put(`/pipelines/${pipeline.id}`, { parameters: { shop: 'south' } });
  await page.reload();
  await panel().getByText('the pipeline was changed after it was sent').waitFor();
});
