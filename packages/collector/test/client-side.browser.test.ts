import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import webhook from '../../catalog/src/vendors/webhook/vendor.ts';
import type { ClientSideInput } from '../build/features.ts';
import { aPipeline, call, Stage } from './fixtures.ts';

const stage = new Stage();
const { ingest } = stage;
beforeAll(() => stage.start());
afterAll(() => stage.stop());
beforeEach(() => stage.reset());

const integration = (more: Partial<ClientSideInput> = {}, config: object = {}): ClientSideInput => ({
  integration_id: 'int_1',
  vendor: 'webhook',
  definition: webhook,
  config: { url: `http://localhost:${ingest.port}/hook`, ...config } as ClientSideInput['config'],
  ...more,
});
const hooks = () => ingest.requests.filter((request) => request.path === '/hook').map((request) => request.body);

test('the browser sends the mapped event to the vendor, and the event itself to the service', async () => {
  const config = {
    version: 2,
    events: {
      'Order Completed': {
        vendor_event_name: 'purchase',
        mappings: [
          { source: 'properties.total', target: 'value' },
          { source: 'traits.email', target: 'em', transforms: ['trim', 'lowercase', 'sha256'] },
        ],
      },
    },
    defaults: { action: 'drop' },
  };
  await stage.serve(aPipeline(), { clientSide: [integration({}, config)] });
  const page = await stage.open();
  await ingest.waitFor((all) => all.some((event) => event.type === 'page'));
  await call(page, 'track', 'Order Completed', { total: 42 }, { traits: { email: ' A@b.example ' } });
  await expect.poll(() => hooks().length).toBe(1);
  expect(hooks()[0]).toMatchObject({ value: 42, em: expect.stringMatching(/^[0-9a-f]{64}$/) });
  await ingest.waitFor((all) => all.some((event) => event.event === 'Order Completed'));
});

test('sends the canonical event if nothing is mapped, and respects event filter and consent', async () => {
  await stage.serve(aPipeline(), {
    clientSide: [integration({ consent_category: 'analytics', event_filter: { event_names: ['Wanted', '@page'] } })],
  });
  const page = await stage.open();
  await ingest.waitFor((all) => all.length === 1);
  await call(page, 'consent', { statistics: true });
  await call(page, 'track', 'Unwanted');
  await call(page, 'identify', 'u-1');
  await call(page, 'track', 'Wanted', { a: 1 });
  await expect.poll(() => hooks().length).toBe(1);
  const sent = (await ingest.waitFor((all) => all.some((event) => event.event === 'Wanted'))).find((event) => event.event === 'Wanted')!;
  expect(hooks()[0]).toMatchObject({
    event_id: sent.messageId,
    type: 'track',
    event: 'Wanted',
    anonymous_id: sent.anonymousId,
    user_id: 'u-1',
    timestamp: sent.timestamp,
    properties: { a: 1 },
    context: { user_agent: await page.evaluate(() => navigator.userAgent) },
  });
});
