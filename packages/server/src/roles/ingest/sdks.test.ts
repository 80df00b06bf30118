import RudderAnalytics from '@rudderstack/rudder-sdk-node';
import { Analytics } from '@segment/analytics-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aPipeline, aSnapshot, type Harness, startIngest } from './testing/harness.ts';

/** Published SDKs with nothing changed but their host: every call type, compared field by field. */
let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(aSnapshot([aPipeline()]));
});
afterAll(() => harness.close());

const timestamp = new Date('2026-03-01T12:00:00.000Z');
const seen = '2026-03-01T12:00:00.000Z';
const context = { ip: '198.51.100.4', userAgent: 'UA/1', locale: 'fr-FR' };
const kept = { ip: '198.51.100.4', user_agent: 'UA/1', locale: 'fr-FR' };

const CALLS = [
  {
    call: 'track',
    input: { userId: 'u1', event: 'Order Completed', properties: { total: 42, items: [{ sku: 'a' }] } },
    event: { type: 'track', event: 'Order Completed', user_id: 'u1', properties: { total: 42, items: [{ sku: 'a' }] } },
  },
  {
    call: 'track',
    input: { anonymousId: 'a1', event: 'Viewed', properties: { n: 1 } },
    event: { type: 'track', event: 'Viewed', anonymous_id: 'a1', properties: { n: 1 } },
  },
  {
    call: 'page',
    input: { userId: 'u1', category: 'Docs', name: 'Home', properties: { url: 'https://a.example/' } },
    event: { type: 'page', name: 'Home', user_id: 'u1', properties: { url: 'https://a.example/', category: 'Docs' } },
  },
  {
    call: 'screen',
    input: { userId: 'u1', name: 'Cart', properties: { items: 2 } },
    event: { type: 'page', original_type: 'screen', name: 'Cart', user_id: 'u1', properties: { items: 2 } },
  },
  {
    call: 'identify',
    input: { userId: 'u1', anonymousId: 'a1', traits: { email: 'a@b.test' } },
    event: { type: 'identify', user_id: 'u1', anonymous_id: 'a1', traits: { email: 'a@b.test' } },
  },
  {
    call: 'group',
    input: { userId: 'u1', groupId: 'g1', traits: { plan: 'pro' } },
    event: { type: 'group', user_id: 'u1', group_id: 'g1', traits: { plan: 'pro' } },
  },
  {
    call: 'alias',
    input: { userId: 'u1', previousId: 'a9' },
    event: { type: 'identify', original_type: 'alias', user_id: 'u1', anonymous_id: 'a9' },
  },
] as const;

async function newEvents(send: () => Promise<void>) {
  const before = new Set((await harness.stored()).map((each) => each.event.event_id));
  await send();
  const stored = await harness.stored();
  return stored.filter((each) => !before.has(each.event.event_id)).map((each) => each.event);
}

test.each(CALLS)('@segment/analytics-node: $call', async ({ call, input, event }) => {
  const analytics = new Analytics({ writeKey: 'pk_web', host: harness.url, flushAt: 1 });
  const failures: unknown[] = [];
  analytics.on('error', (error) => failures.push(error));
  const events = await newEvents(async () => {
    (analytics[call] as (message: object) => void)({ ...input, timestamp, context });
    await analytics.closeAndFlush();
  });
  expect(failures).toEqual([]);
  const [{ event_id, context: sent, ...rest }] = events as [(typeof events)[0]];
  expect(event_id).toMatch(/^node-next-/);
  expect(rest).toEqual({ ...event, timestamp: seen });
  expect(sent).toMatchObject({ ...kept, library: { name: '@segment/analytics-node' } });
  expect(events).toHaveLength(1);
});

test.each(CALLS)('@rudderstack/rudder-sdk-node: $call', async ({ call, input, event }) => {
  const analytics = new RudderAnalytics('pk_web', { dataPlaneUrl: harness.url, flushAt: 1, flushInterval: 20, logLevel: 'error' });
  const events = await newEvents(async () => {
    await new Promise<void>((resolve) => {
      (analytics[call] as (message: object, done: () => void) => void)({ ...input, timestamp, context }, () => resolve());
    });
    await new Promise<void>((resolve) => analytics.flush(() => resolve()));
  });
  expect(events).toHaveLength(1);
  const [{ event_id, context: sent, ...rest }] = events as [(typeof events)[0]];
  expect(event_id).toMatch(/^[0-9a-f-]{36}$/);
  expect(rest).toEqual({ ...event, timestamp: seen });
  expect(sent).toMatchObject({ ...kept, library: { name: 'analytics-node' } });
});

test('a batch of Segment calls keeps their order and their clock is corrected', async () => {
  const analytics = new Analytics({ writeKey: 'pk_web', host: harness.url, flushAt: 15 });
  const events = await newEvents(async () => {
    for (let i = 0; i < 10; i++) analytics.track({ userId: 'ordered', event: `Step ${i}` });
    await analytics.closeAndFlush();
  });
  expect(events.map((event) => event.event)).toEqual(Array.from({ length: 10 }, (_, i) => `Step ${i}`));
});

/** Their libraries are not for Node; this is what they put on the wire. */
test.each([
  ['Ruby', '/v1/import'],
  ['Java', '/v1/import/'],
])('the address that Segment’s library for %s calls', async (_name, path) => {
  const call = { type: 'track', event: 'Called', userId: 'u1', messageId: `at ${path}` };
  const events = await newEvents(async () => {
    const response = await fetch(`${harness.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa('pk_web:')}` },
      body: JSON.stringify({ batch: [call], sentAt: new Date().toISOString() }),
    });
    expect(response.status).toBe(200);
  });
  expect(events).toMatchObject([{ type: 'track', event: 'Called', user_id: 'u1' }]);
});
