import { createRequire } from 'node:module';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Harness } from '../testing/harness.ts';
import { deliver as deliverTo, hmac, INGEST, SECRET, startWebhooks, stripeHeader } from '../testing/webhooks.ts';

const { Signature } = createRequire(import.meta.url)('@hubspot/api-client') as {
  Signature: { getSignature(method: string, version: string, options: object): string };
};
let harness: Harness;
beforeAll(async () => {
  harness = await startWebhooks();
});
afterAll(() => harness.close());
async function deliver(id: string, body: string, headers?: Record<string, string>) {
  const delivered = await deliverTo(harness, id, body, headers);
  expect([delivered.status, delivered.answer]).toEqual([200, { success: true }]);
  return delivered;
}

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
          currency: 'EUR',
          value: 42,
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
      {
        currency: 'jpy',
        items: { data: [{ quantity: 2, price: { id: 'price_1', product: 'prod_1', unit_amount: 900, currency: 'jpy' } }] },
      },
      {
        plan_id: 'price_1',
        amount: 900,
        value: 900,
        currency: 'JPY',
        products: [{ product_id: 'prod_1', price_id: 'price_1', quantity: 2, price: 900 }],
      },
    ],
    [
      'invoice.paid',
      'Invoice Paid',
      {
        id: 'in_1',
        currency: 'kwd',
        amount_due: 9_000,
        amount_paid: 9_000,
        total: 9_000,
        lines: { data: [{ description: 'Boots', amount: 9_000, currency: 'kwd', quantity: 1 }] },
      },
      {
        invoice_id: 'in_1',
        amount: 9_000,
        value: 9,
        total: 9,
        currency: 'KWD',
        products: [{ name: 'Boots', quantity: 1, value: 9 }],
      },
    ],
    [
      'charge.refunded',
      'Payment Refunded',
      { amount: 10_000, amount_refunded: 1_500, currency: 'eur' },
      { value: 15, amount: 10_000, amount_refunded: 1_500, currency: 'EUR' },
    ],
    [
      'invoice.payment_failed',
      'Invoice Payment Failed',
      { id: 'in_2', parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_1' } } },
      { invoice_id: 'in_2', subscription_id: 'sub_1' },
    ],
    [
      'invoice.upcoming',
      'Invoice Upcoming',
      {
        id: 'in_3',
        currency: 'eur',
        lines: {
          data: [
            {
              description: 'Pro',
              quantity: 2,
              amount: 1_998,
              currency: 'eur',
              pricing: { price_details: { price: 'price_1', product: 'prod_1' }, type: 'price_details', unit_amount_decimal: '999' },
            },
          ],
        },
      },
      {
        invoice_id: 'in_3',
        currency: 'EUR',
        products: [{ product_id: 'prod_1', price_id: 'price_1', name: 'Pro', quantity: 2, price: 9.99, value: 19.98 }],
      },
    ],
    ['some.new.type', 'some.new.type', { id: 'x' }, { stripe_object_id: 'x' }],
  ])('Stripe %s', async (type, name, object, properties) => {
    const payload = JSON.stringify({ id: `evt_${type}`, type, created: 1_772_366_400, data: { object } });
    const { events } = await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload) });
    expect(events[0]).toMatchObject({ event: name, properties });
  });
  // Stripe calls them thin events: docs.stripe.com/event-destinations#benefits-of-thin-events
  test("an event of the second version of Stripe's API", async () => {
    const payload = JSON.stringify({
      id: 'evt_test_65R',
      object: 'v2.core.event',
      type: 'v1.billing.meter.error_report_triggered',
      livemode: false,
      created: '2026-03-01T12:00:00.123Z',
      related_object: { id: 'mtr_1', type: 'billing.meter', url: '/v1/billing/meters/mtr_1' },
    });
    const { events, letters } = await deliver('stripe', payload, { 'stripe-signature': stripeHeader(payload) });
    expect([events.length, letters]).toEqual([1, []]);
    expect(events[0]).toMatchObject({
      event_id: 'evt_test_65R',
      event: 'v1.billing.meter.error_report_triggered',
      timestamp: '2026-03-01T12:00:00.123Z',
      properties: { stripe_object_id: 'mtr_1', object: 'billing.meter', livemode: false },
    });
  });
  test.each([
    [
      'orders/create',
      {
        id: 7,
        customer: { id: 115 },
        total_price: '42.00',
        total_tax: '6.71',
        currency: 'EUR',
        line_items: [{ id: 1, product_id: 9, sku: 's', title: 'Boots', price: '21.00', quantity: 2, grams: 500 }],
      },
      'Order Completed',
      '115',
      {
        order_id: 7,
        total: 42,
        tax: 6.71,
        currency: 'EUR',
        products: [{ product_id: 9, sku: 's', name: 'Boots', price: 21, quantity: 2 }],
      },
    ],
    ['orders/paid', { id: 7, customer: { id: 115_310_627_314_723 } }, 'Order Paid', '115310627314723', { order_id: 7 }],
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
  test('a Shopify order has the time at which it was placed', async () => {
    const payload = JSON.stringify({ id: 8, created_at: '2026-02-28T23:59:58-05:00' });
    const { events } = await deliver('shopify', payload, {
      'x-shopify-hmac-sha256': hmac(payload, 'base64'),
      'x-shopify-topic': 'orders/create',
      'x-shopify-webhook-id': 'wh-placed',
      'x-shopify-triggered-at': '2026-03-01T12:00:00Z',
    });
    expect(events[0]?.timestamp).toBe('2026-03-01T04:59:58.000Z');
  });
  test('GitHub: a redelivery is the same event', async () => {
    const body = JSON.stringify({
      action: 'opened',
      issue: { number: 3, title: 'T' },
      repository: { full_name: 'o/r' },
      sender: { login: 'ada' },
    });
    const headers = { 'x-hub-signature-256': `sha256=${hmac(body, 'hex')}`, 'x-github-event': 'issues', 'x-github-delivery': 'guid-1' };
    expect((await deliver('github', body, headers)).events).toMatchObject([
      {
        event_id: 'guid-1',
        event: 'Issue Changed',
        user_id: 'ada',
        properties: { github_event: 'issues', action: 'opened', number: 3, repository: 'o/r' },
        context: { webhook_event_id: 'guid-1' },
      },
    ]);
    expect((await deliver('github', body, headers)).events).toEqual([]);
    expect((await deliver('github', `${body} `, headers)).letters[0]?.reason).toMatch(/does not match/);
  });
  test('Svix, under its own header names', async () => {
    const payload = '{"type":"user.made","timestamp":"2026-03-01T12:00:00Z","data":{"plan":"pro"}}';
    const at = new Date();
    const headers = {
      'svix-id': 'msg_svix',
      'svix-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'svix-signature': new Webhook(SECRET).sign('msg_svix', at, payload),
    };
    expect((await deliver('svix', payload, headers)).events).toMatchObject([
      { event_id: 'msg_svix', event: 'user.made', timestamp: '2026-03-01T12:00:00.000Z', properties: { plan: 'pro' } },
    ]);
    expect((await deliver('svix', payload, headers)).events).toEqual([]);
    const { 'svix-signature': _signature, ...unsigned } = headers;
    expect((await deliver('svix', payload, unsigned)).letters[0]?.reason).toMatch(/svix-signature is missing/);
  });
  test('Shopify ids beyond the safe integer range stay exact', async () => {
    const payload = '{"id":820982911946154508,"customer":{"id":115310627314723954}}';
    const { events } = await deliver('shopify', payload, {
      'x-shopify-hmac-sha256': hmac(payload, 'base64'),
      'x-shopify-topic': 'orders/create',
      'x-shopify-webhook-id': 'wh-exact',
    });
    expect(events[0]).toMatchObject({ user_id: '115310627314723954', properties: { order_id: '820982911946154508' } });
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
