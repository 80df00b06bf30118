import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';
import type { WebhookSource } from '@firsthand/core/config/resources.ts';
import type { DeadLetter } from '@firsthand/core/outcome/outcome.ts';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compileWebhookSource } from '../../../snapshot/webhook-source.ts';
import { LogUnavailable } from '../../../stores/event-log/port.ts';
import { aPipeline, aSnapshot, aSource, type Harness, startIngest } from '../testing.ts';
import { replayWebhook } from './replay.ts';

const { Signature } = createRequire(import.meta.url)('@hubspot/api-client') as {
  Signature: { getSignature(method: string, version: string, options: object): string };
};
const SECRET = 'whsec_c2VjcmV0LW9mLXRoZS1zb3VyY2U=';
const INGEST = 'https://in.shop.example';
const source = (id: string, over: Partial<WebhookSource>) => aSource({ id: `whs_${id}`, signing_secret: SECRET, ...over });
const SOURCES = [
  source('stripe', { provider: 'stripe', source_type: 'payment_processor' }),
  source('shopify', { provider: 'shopify', source_type: 'ecommerce_platform' }),
  source('hubspot', { provider: 'hubspot', source_type: 'crm' }),
  source('typeform', { provider: 'typeform', source_type: 'form_service' }),
  source('intercom', { provider: 'intercom', source_type: 'messaging_service' }),
  source('hmac', {
    signature_method: 'hmac_sha256',
    signature_header: 'X-Sig',
    event_type_path: '$.kind',
    mappings: { 'properties.n': '$.n' },
  }),
  source('standard', { signature_method: 'standard_webhooks', event_type_path: '$.type' }),
  source('shared', { signature_method: 'shared_secret', signature_header: 'X-Token', event_type_path: '$.type' }),
  source('open', {
    signature_method: 'none',
    mappings: {
      event: "'Form Submitted'",
      userId: '$.user.id',
      messageId: '$.uid',
      'properties.emails': '$.people[*].email',
      'properties.first': '$.people[0].email',
      'properties.topic': '$headers.x-topic',
      'properties.fixed': "'yes'",
      'traits.name': '$.user.name',
    },
    timestamp_path: '$.at',
    timestamp_format: 'unix_seconds',
  }),
  source('off', { enabled: false }),
  source('orphan', { pipeline_id: 'pl_gone', signature_method: 'none', mappings: { event: "'X'" } }),
  source('disabled', { pipeline_id: 'pl_off', signature_method: 'none', mappings: { event: "'X'" } }),
];
const snapshot = aSnapshot([aPipeline(), aPipeline({ id: 'pl_off', pipeline_key: 'pk_off', enabled: false })], SOURCES);
let harness: Harness;
beforeAll(async () => {
  harness = await startIngest(snapshot, { settings: { ingestUrl: INGEST }, watched: true });
});
afterAll(() => harness.close());

const hmac = (body: string, encoding: 'hex' | 'base64', algorithm = 'sha256', secret = SECRET) =>
  createHmac(algorithm, secret).update(body).digest(encoding);
async function deliver(id: string, body: string, headers: Record<string, string> = {}) {
  const before = new Set((await harness.stored()).map((each) => each.event.event_id));
  const letters = (await deadLetters()).length;
  const response = await fetch(`${harness.url}/v1/webhook?source=whs_${id}`, { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toEqual([200, { success: true }]);
  expect(response.headers.get('content-type')).toBe('application/json');
  const events = (await harness.stored()).filter((each) => !before.has(each.event.event_id)).map((each) => each.event);
  return { events, letters: (await deadLetters()).slice(letters) };
}
async function deadLetters(): Promise<DeadLetter[]> {
  return (await harness.outcomes()).flatMap((outcome) => (outcome.kind === 'dead_lettered' ? [outcome.dead_letter] : []));
}
const stripeHeader = (payload: string, timestamp?: number, secret = SECRET) =>
  new Stripe('sk_test_x').webhooks.generateTestHeaderString({ payload, secret, ...(timestamp === undefined ? {} : { timestamp }) });

describe('providers', () => {
  test('Stripe, signed by its own package', async () => {
    const payload = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'payment_intent.succeeded',
      created: 1_772_366_400,
      livemode: false,
      data: {
        object: {
          id: 'pi_1',
          object: 'payment_intent',
          amount: 4_200,
          currency: 'eur',
          customer: 'cus_9',
          status: 'succeeded',
          receipt_email: 'a@b.test',
          metadata: { order: '7' },
        },
      },
    });
    const { events } = await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload) });
    expect(events).toEqual([
      {
        event_id: 'evt_1',
        type: 'track',
        event: 'Payment Succeeded',
        user_id: 'cus_9',
        timestamp: '2026-03-01T12:00:00.000Z',
        context: { source: 'webhook', webhook_source: 'payment_processor', webhook_event_id: 'evt_1' },
        properties: {
          stripe_object_id: 'pi_1',
          object: 'payment_intent',
          status: 'succeeded',
          currency: 'eur',
          livemode: false,
          metadata: { order: '7' },
          amount: 4_200,
        },
        traits: { email: 'a@b.test' },
      },
    ]);
    expect((await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload) })).events, "the provider's retry").toEqual([]);
  });
  test.each([
    [
      'customer.subscription.created',
      'Subscription Created',
      { items: { data: [{ price: { id: 'price_1', unit_amount: 900 } }] } },
      { plan_id: 'price_1', amount: 900 },
    ],
    [
      'invoice.paid',
      'Invoice Paid',
      { id: 'in_1', amount_due: 900, amount_paid: 900 },
      { invoice_id: 'in_1', amount: 900, amount_paid: 900 },
    ],
    ['some.new.type', 'some.new.type', { id: 'x' }, { stripe_object_id: 'x' }],
  ])('Stripe %s', async (type, name, object, properties) => {
    const payload = JSON.stringify({ id: `evt_${type}`, type, created: 1_772_366_400, data: { object } });
    const { events } = await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload) });
    expect(events[0]).toMatchObject({ event: name, properties });
  });
  test.each([
    [
      'orders/create',
      { id: 7, customer: { id: 115 }, total_price: '42.00', currency: 'EUR', line_items: [{ sku: 's' }] },
      'Order Completed',
      '115',
      { order_id: 7, total: '42.00', currency: 'EUR', products: [{ sku: 's' }] },
    ],
    ['customers/create', { id: 115, email: 'a@b.test' }, 'Customer Created', '115', { customer_id: 115 }],
    ['products/update', { id: 3, title: 'Boots', vendor: 'V' }, 'Product Updated', undefined, { product_id: 3, name: 'Boots', brand: 'V' }],
  ])('Shopify %s', async (topic, body, name, userId, properties) => {
    const payload = JSON.stringify(body);
    const { events } = await deliver('shopify', payload, {
      'x-shopify-hmac-sha256': hmac(payload, 'base64'),
      'x-shopify-topic': topic,
      'x-shopify-webhook-id': `wh-${topic}`,
      'x-shopify-event-id': 'one-action',
      'x-shopify-triggered-at': '2026-03-01T12:00:00.123456789Z',
    });
    expect(events[0]).toMatchObject({
      event_id: `wh-${topic}`,
      event: name,
      timestamp: '2026-03-01T12:00:00.123Z',
      properties,
      context: { webhook_event_id: `wh-${topic}` },
    });
    expect(events[0]!.user_id).toBe(userId);
  });
  test('HubSpot, signed by its own package: each element is an event', async () => {
    const body = JSON.stringify([
      { eventId: 100, subscriptionType: 'contact.creation', objectId: 123, occurredAt: 1_772_366_400_000, portalId: 1 },
      {
        eventId: 101,
        subscriptionType: 'deal.propertyChange',
        objectId: 9,
        propertyName: 'amount',
        propertyValue: '5',
        occurredAt: 1_772_366_400_000,
      },
      { eventId: 102, subscriptionType: 'company.deletion', objectId: 4, occurredAt: 1_772_366_400_000 },
    ]);
    const timestamp = Date.now();
    const signature = Signature.getSignature('POST', 'v3', {
      clientSecret: SECRET,
      url: `${INGEST}/v1/webhook?source=whs_hubspot`,
      requestBody: body,
      timestamp,
    });
    const { events } = await deliver('hubspot', body, {
      'x-hubspot-signature-v3': signature,
      'x-hubspot-request-timestamp': String(timestamp),
    });
    expect(events.map((event) => [event.event_id, event.event, event.user_id, event.timestamp]).sort()).toEqual([
      ['100', 'Contact Created', '123', '2026-03-01T12:00:00.000Z'],
      ['101', 'Deal Updated', undefined, '2026-03-01T12:00:00.000Z'],
      ['102', 'Company Deleted', undefined, '2026-03-01T12:00:00.000Z'],
    ]);
    const old = Signature.getSignature('POST', 'v3', {
      clientSecret: SECRET,
      url: `${INGEST}/v1/webhook?source=whs_hubspot`,
      requestBody: '[]',
      timestamp: timestamp - 400_000,
    });
    expect(
      (await deliver('hubspot', '[]', { 'x-hubspot-signature-v3': old, 'x-hubspot-request-timestamp': String(timestamp - 400_000) }))
        .letters,
    ).toHaveLength(1);
  });
  test('Typeform', async () => {
    const body = JSON.stringify({
      event_id: 'tf1',
      event_type: 'form_response',
      form_response: {
        form_id: 'f',
        submitted_at: '2026-03-01T12:00:00Z',
        hidden: { user_id: 'u1' },
        answers: [{ type: 'text', text: 'hi' }],
      },
    });
    const { events } = await deliver('typeform', body, { 'typeform-signature': `sha256=${hmac(body, 'base64')}` });
    expect(events[0]).toMatchObject({
      event_id: 'tf1',
      event: 'Form Submitted',
      user_id: 'u1',
      properties: { form_id: 'f', answers: [{ type: 'text', text: 'hi' }] },
    });
  });
  test.each(['sha1', 'sha256'])('Intercom with %s', async (algorithm) => {
    const body = JSON.stringify({
      type: 'notification_event',
      id: `notif_${algorithm}`,
      topic: 'user.created',
      created_at: 1_772_366_400,
      data: { item: { type: 'user', id: 'i', user_id: '25', email: 'a@b.test' } },
    });
    const { events } = await deliver('intercom', body, { 'x-hub-signature': `${algorithm}=${hmac(body, 'hex', algorithm)}` });
    expect(events[0]).toMatchObject({
      event_id: `notif_${algorithm}`,
      event: 'User Created',
      user_id: '25',
      traits: { email: 'a@b.test' },
    });
  });
  test('Intercom conversations', async () => {
    const body = JSON.stringify({
      id: 'notif_c',
      topic: 'conversation.user.created',
      created_at: 1_772_366_400,
      data: { item: { id: 'c1', state: 'open', contacts: { contacts: [{ id: 'k', external_id: 'u7' }] } } },
    });
    const { events } = await deliver('intercom', body, { 'x-hub-signature': `sha1=${hmac(body, 'hex', 'sha1')}` });
    expect(events[0]).toMatchObject({
      event: 'Conversation Started',
      user_id: 'u7',
      properties: { conversation_id: 'c1', contact_ids: ['k'] },
    });
  });
});

describe('custom sources', () => {
  const body = JSON.stringify({ kind: 'thing.done', n: 1, id: 'own-id' });
  test.each([
    ['hex', hmac(body, 'hex')],
    ['HEX', hmac(body, 'hex').toUpperCase()],
    ['base64', hmac(body, 'base64')],
    ['sha256=hex', `sha256=${hmac(body, 'hex')}`],
    ['sha256=base64', `sha256=${hmac(body, 'base64')}`],
  ])('HMAC as %s', async (_name, signature) => {
    const { events } = await deliver('hmac', body, { 'x-sig': signature });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      event: 'thing.done',
      properties: { n: 1 },
      context: { webhook_source: 'custom', webhook_event_id: 'own-id' },
    });
  });
  test('Standard Webhooks, signed by its own package; webhook-id is the messageId', async () => {
    const payload = '{"type":"invoice.made"}';
    const at = new Date();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign('msg_1', at, payload),
    };
    expect((await deliver('standard', payload, headers)).events[0]).toMatchObject({
      event_id: 'msg_1',
      event: 'invoice.made',
      context: { webhook_event_id: 'msg_1' },
    });
    expect((await deliver('standard', payload, headers)).events).toEqual([]);
    expect((await deliver('standard', '{"type":"forged"}', headers)).letters[0]!.reason).toMatch(/signature/);
  });
  test('a shared secret', async () => {
    expect((await deliver('shared', '{"type":"x"}', { 'x-token': SECRET })).events).toHaveLength(1);
    expect((await deliver('shared', '{"type":"x"}', { 'x-token': 'guess' })).letters).toHaveLength(1);
  });
  test('every form of mapping', async () => {
    const { events } = await deliver(
      'open',
      JSON.stringify({ uid: 'u-1', user: { id: 77, name: 'Ada' }, people: [{ email: 'a' }, { email: 'b' }], at: 1_772_366_400 }),
      { 'x-topic': 'forms' },
    );
    expect(events).toEqual([
      {
        event_id: 'u-1',
        type: 'track',
        event: 'Form Submitted',
        user_id: '77',
        timestamp: '2026-03-01T12:00:00.000Z',
        context: { source: 'webhook', webhook_source: 'custom', webhook_event_id: 'u-1' },
        properties: { emails: ['a', 'b'], first: 'a', topic: 'forms', fixed: 'yes' },
        traits: { name: 'Ada' },
      },
    ]);
  });
  test('without a userId an anonymous id is derived', async () => {
    expect((await deliver('open', '{"uid":"u-2"}')).events[0]!.anonymous_id).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('what cannot be taken', () => {
  const REFUSED: [name: string, id: string, body: string, headers: Record<string, string>, reason: RegExp][] = [
    ['a missing signature', 'stripe', '{}', {}, /stripe-signature is missing/],
    ['a malformed signature', 'stripe', '{}', { 'stripe-signature': 'nonsense' }, /malformed/],
    ['a wrong secret', 'stripe', '{}', { 'stripe-signature': stripeHeader('{}', undefined, 'whsec_other') }, /does not match/],
    [
      'a signature 301 s old',
      'stripe',
      '{}',
      { 'stripe-signature': stripeHeader('{}', Math.floor(Date.now() / 1_000) - 302) },
      /tolerance/,
    ],
    ['a changed body', 'shopify', '{"a":2}', { 'x-shopify-hmac-sha256': hmac('{"a":1}', 'base64') }, /does not match/],
    ['no event name', 'hmac', '{}', { 'x-sig': hmac('{}', 'hex') }, /no event name/],
    ['a body that is no JSON', 'open', 'a=b', {}, /not valid JSON/],
    ['a body that is a number', 'open', '7', {}, /neither an object nor a list/],
    ['a timestamp that is none', 'open', '{"at":"soon"}', {}, /timestamp is not unix_seconds/],
    ['a userId that is an object', 'open', '{"user":{"id":{}}}', {}, /userId is not text/],
    ['a messageId beyond ASCII', 'open', '{"uid":"é"}', {}, /messageId/],
    ['a depth bomb', 'open', '['.repeat(10_000), {}, /nests deeper/],
  ];
  test.each(REFUSED)('%s is a dead letter', async (_name, id, body, headers, reason) => {
    const frames = harness.frames.length;
    const { events, letters } = await deliver(id, body, { ...headers, authorization: 'Bearer other', cookie: 'session=hidden' });
    expect(events).toEqual([]);
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({
      stage: 'webhook',
      webhook_source_id: `whs_${id}`,
      pipeline_id: 'pl_web',
      integration_id: null,
      event: { body },
    });
    expect(letters[0]!.reason).toMatch(reason);
    expect(JSON.stringify(letters[0])).not.toMatch(/Bearer other|session=hidden/);
    expect(harness.frames.slice(frames)).toMatchObject([{ stage: 'webhook_rejected', pipeline_id: 'pl_web' }]);
  });
  test.each([
    ['an unknown source', 'nobody', '{}'],
    ['a disabled source', 'off', '{}'],
    ['a source without a pipeline', 'orphan', '{}'],
    ['a source of a disabled pipeline', 'disabled', '{}'],
    ['a body over 1 MB', 'open', JSON.stringify({ x: 'x'.repeat(1_100_000) })],
  ])('%s: thanked, not kept', async (_name, id, body) => {
    const { events, letters } = await deliver(id, body);
    expect([events, letters]).toEqual([[], []]);
  });
  test('of a large refused body 64 KB are kept', async () => {
    const { letters } = await deliver('stripe', JSON.stringify({ x: 'é'.repeat(50_000) }));
    const { event } = letters[0] as DeadLetter & { event: { body: string; truncated?: boolean } };
    expect(Buffer.byteLength(event.body)).toBeLessThanOrEqual(65_540);
    expect(event.truncated).toBe(true);
  });
  test('a shared secret never stands in a dead letter', async () => {
    const { letters } = await deliver('shared', '{"no":"type"}', { 'x-token': SECRET });
    expect(letters[0]!.reason).toMatch(/no event name/);
    expect(JSON.stringify(letters[0])).not.toContain(SECRET);
  });
});

describe('replay', () => {
  const rules = snapshot.pipelines.get('pl_web')!.ingest;
  const mended = (id: string, over: Partial<WebhookSource>) => {
    const result = compileWebhookSource({ ...SOURCES.find((each) => each.id === `whs_${id}`)!, ...over });
    if (!result.ok) throw new Error('does not compile');
    return result.source;
  };
  const run = (letter: DeadLetter, compiled: ReturnType<typeof mended>) => replayWebhook(letter, compiled, rules, { ingestUrl: INGEST });

  test('after the mapping is mended', async () => {
    const { letters } = await deliver('hmac', '{"what":"x","n":5}', { 'x-sig': hmac('{"what":"x","n":5}', 'hex') });
    const replay = run(letters[0]!, mended('hmac', { event_type_path: '$.what' }));
    expect(replay.ok && replay.appends).toHaveLength(1);
    if (replay.ok) await harness.log.append(replay.appends);
    const stored = (await harness.stored()).find((each) => each.envelope.replay_of === letters[0]!.id)!;
    expect(stored.event).toMatchObject({ event: 'x', properties: { n: 5 }, timestamp: letters[0]!.created_at });
  });
  test('after the secret is mended, with the time of receipt as now', async () => {
    const payload = JSON.stringify({ id: 'evt_late', type: 'invoice.paid', created: 1_772_366_400, data: { object: {} } });
    const { letters } = await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload, undefined, 'whsec_new') });
    const letter = letters[0]!;
    expect(run(letter, mended('stripe', {}))).toMatchObject({ ok: false, reason: expect.stringMatching(/does not match/) });
    expect(run(letter, mended('stripe', { signing_secret: 'whsec_new' }))).toMatchObject({ ok: true });
    const aged = { ...letter, event: { ...letter.event, received_at: new Date(Date.now() + 3_600_000).toISOString() } } as DeadLetter;
    expect(run(aged, mended('stripe', { signing_secret: 'whsec_new' }))).toMatchObject({ ok: false });
  });
  test('a shared secret is verified by its digest', async () => {
    const { letters } = await deliver('shared', '{"kind":"x"}', { 'x-token': SECRET });
    expect(run(letters[0]!, mended('shared', { event_type_path: '$.kind' }))).toMatchObject({ ok: true });
    expect(run(letters[0]!, mended('shared', { event_type_path: '$.kind', signing_secret: 'rotated' }))).toMatchObject({ ok: false });
  });
  test('what was cut short cannot be replayed', async () => {
    const { letters } = await deliver('stripe', JSON.stringify({ x: 'x'.repeat(70_000) }));
    expect(run(letters[0]!, mended('stripe', {}))).toMatchObject({ ok: false, reason: expect.stringMatching(/part/) });
  });
});

test('a service may ask for the address with HEAD first', async () => {
  expect((await fetch(`${harness.url}/v1/webhook?source=whs_intercom`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${harness.url}/v1/webhook?source=whs_intercom`)).status).toBe(405);
});

test('what cannot be stored at all gets 503, so that the provider sends it again', async () => {
  const away = await startIngest(snapshot, {
    log: (log) =>
      new Proxy(log, {
        get: (target, name) => (name === 'append' ? () => Promise.reject(new LogUnavailable('away')) : Reflect.get(target, name, target)),
      }),
  });
  for (const id of ['open', 'stripe']) {
    const response = await fetch(`${away.url}/v1/webhook?source=whs_${id}`, { method: 'POST', body: '{}' });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  }
  await away.close();
});
