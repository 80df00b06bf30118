import { ISOLATED, named, sentAs, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import openai from './vendor.ts';

const url = 'https://bzr.openai.com/v1/events?pid=px_0123456789abcdef';
const context = { ...CONTEXT, click_ids: { oppref: 'oppref_abc' } };
const visit = visitOf(context);
const browser = { external_ids_sha256: [HASHED.user_id], ip_address: '203.0.113.7', user_agent: 'Mozilla/5.0 (X11; Linux x86_64)' };
const web = {
  id: 'evt-1',
  timestamp_ms: 1767323045678,
  oppref: 'oppref_abc',
  source_url: 'https://shop.example/checkout?x=1',
  action_source: 'web',
};
const order = orderCompleted({}, { context });
const sent = (...events: unknown[]) => [{ url, body: { events } }];

export default vendorCases(
  openai,
  [
    {
      name: 'an order: amounts in cents, user data as lists',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer sk-ads-example0123456789' },
          body: {
            events: [
              {
                ...web,
                type: 'order_created',
                user: {
                  ...browser,
                  emails_sha256: [HASHED.email],
                  phone_numbers_sha256: [HASHED.phone_digits],
                  first_names_sha256: [HASHED.first_name],
                  last_names_sha256: [HASHED.last_name],
                  countries: ['US'],
                  cities: ['New York'],
                  regions: ['New York'],
                  postal_codes: ['10001-1234'],
                },
                data: {
                  type: 'contents',
                  amount: 4250,
                  currency: 'EUR',
                  contents: [
                    { id: 'p-1', name: 'Tea', quantity: 2, amount: 1000 },
                    { id: 'S2', name: 'Cup', quantity: 1, amount: 2250 },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'validation only; yen have no cents; consent denied',
      config: { validate_only: true },
      event: track(
        'Order Completed',
        { total: 1500, currency: 'JPY' },
        { traits: {}, context: { ...context, consent: { canonical: { advertising: false } } } },
      ),
      requests: [
        {
          url,
          body: {
            validate_only: true,
            events: [
              { ...web, opt_out: true, type: 'order_created', user: browser, data: { type: 'contents', amount: 1500, currency: 'JPY' } },
            ],
          },
        },
      ],
    },
    {
      name: 'a page view',
      event: pageViewed({ context }),
      requests: sent({ ...web, id: 'evt-2', type: 'page_viewed', user: browser, data: { type: 'contents' } }),
    },
    {
      name: 'an app event has no source URL',
      event: track('Signed Up', {}, { traits: {}, context: { app: { namespace: 'com.shop' }, ip: '203.0.113.7' } }),
      requests: sent({
        id: 'evt-1',
        timestamp_ms: 1767323045678,
        action_source: 'mobile_app',
        type: 'registration_completed',
        user: { external_ids_sha256: [HASHED.user_id], ip_address: '203.0.113.7' },
        data: { type: 'customer_action' },
      }),
    },
    {
      name: 'the pixel’s id of the browser, and the advertising id of an Android device',
      event: track(
        'Signed Up',
        {},
        {
          traits: {},
          context: {
            os: { name: 'Android' },
            device: { advertising_id: '38400000-8cf0-11bd-b23e-10b96e40000d' },
            vendor_ids: { obref: 'ob-1', oppref: 'op-1' },
          },
        },
      ),
      requests: sent({
        id: 'evt-1',
        timestamp_ms: 1767323045678,
        action_source: 'mobile_app',
        oppref: 'op-1',
        type: 'registration_completed',
        user: { external_ids_sha256: [HASHED.user_id], obref: 'ob-1', android_advertising_id: '38400000-8cf0-11bd-b23e-10b96e40000d' },
        data: { type: 'customer_action' },
      }),
    },
    {
      name: 'an order from a till',
      event: track('Order Completed', {}, { traits: { email: 'anna.berg@example.com' }, context: {} }),
      requests: sent({
        id: 'evt-1',
        timestamp_ms: 1767323045678,
        action_source: 'offline',
        type: 'order_created',
        user: { emails_sha256: [HASHED.email], external_ids_sha256: [HASHED.user_id] },
        data: { type: 'contents' },
      }),
    },
    ...named(
      [
        ['Product Viewed', 'contents_viewed', 'retail'],
        ['Product Added', 'items_added', 'retail'],
        ['Offer Selected', 'items_added', 'travel'],
      ],
      (event, type) => ({
        event: visit(event, { product_id: 'p-1', name: 'Tea', price: 9.99, currency: 'USD' }),
        requests: sent({
          ...web,
          type,
          user: browser,
          data: { type: 'contents', amount: 999, currency: 'USD', contents: [{ id: 'p-1', name: 'Tea', quantity: 1, amount: 999 }] },
        }),
      }),
    ),
    ...named(
      [
        ['Checkout Started', 'checkout_started', 'retail'],
        ['Product List Viewed', 'contents_viewed', 'retail'],
        ['Article Viewed', 'contents_viewed', 'media'],
      ],
      (event, type) => ({ event: visit(event, { total: 5 }), requests: sent({ ...web, type, user: browser, data: { type: 'contents' } }) }),
    ),
    ...named(
      [
        ['Lead Generated', 'lead_created', 'retail'],
        ['Newsletter Subscribed', 'lead_created', 'media'],
        ['Demo Requested', 'appointment_scheduled', 'saas'],
      ],
      (event, type) => ({ event: visit(event), requests: sent({ ...web, type, user: browser, data: { type: 'customer_action' } }) }),
    ),
    ...named(
      [
        ['Trial Started', 'trial_started', 'saas'],
        ['Subscription Started', 'subscription_created', 'media'],
      ],
      (event, type) => ({
        event: visit(event, { plan: 'pro', value: 20, currency: 'USD' }),
        requests: sent({ ...web, type, user: browser, data: { type: 'plan_enrollment', plan_id: 'pro', amount: 2000, currency: 'USD' } }),
      }),
    ),
    {
      name: 'a batch',
      event: visit('Lead Generated'),
      batched: [visit('Signed Up')],
      requests: sent(
        { ...web, type: 'lead_created', user: browser, data: { type: 'customer_action' } },
        { ...web, type: 'registration_completed', user: browser, data: { type: 'customer_action' } },
      ),
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:oppref' },
    { name: 'an event of 8 days', event: order, now: '2026-01-10T03:04:06Z', dropped: 'event_too_old' },
    { name: 'a search has no type', event: track('Products Searched'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
    ...sentAs('events[0].type', { 'Booking Started': 'checkout_started' }),
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: {} }, verdict: { kind: 'delivered' } },
    {
      name: 'a bad event',
      events: [order],
      reply: { status: 400, body: { error: { message: 'timestamp_ms' } } },
      verdict: { kind: 'refused' },
    },
    { name: 'one failed event fails the batch', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    {
      name: 'a bad key',
      events: [order, order],
      reply: { status: 401, body: { error: { message: 'Invalid key' } } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid key' },
    },
    ...temporaryAnswers(order),
  ],
);
