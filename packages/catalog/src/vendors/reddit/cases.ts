import { ISOLATED, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import reddit from './vendor.ts';

const url = 'https://ads-api.reddit.com/api/v3/pixels/a2_abcdefghijkl/conversion_events';
const context = {
  ...CONTEXT,
  click_ids: { rdt_cid: '3184742045291813272' },
  vendor_ids: { rdt_uuid: '1677712978045.b8f7eb7d' },
  screen: { width: 1920, height: 1080 },
};
const visit = visitOf(context);
const browser = {
  external_id: HASHED.user_id,
  ip_address: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  uuid: '1677712978045.b8f7eb7d',
  screen_dimensions: { width: 1920, height: 1080 },
};
const web = {
  event_at: 1767323045678,
  action_source: 'WEBSITE',
  event_source_url: 'https://shop.example/checkout?x=1',
  click_id: '3184742045291813272',
};
const metadata = { conversion_id: 'evt-1' };
const order = orderCompleted({}, { context });
const sent = (...events: unknown[]) => [{ url, body: { data: { events } } }];
const type = (tracking_type: string) => ({ tracking_type });

export default vendorCases(
  reddit,
  [
    {
      name: 'a purchase, while testing',
      config: { test_id: 't2_abcdef' },
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer eyJexampletoken0123456789' },
          body: {
            data: {
              test_id: 't2_abcdef',
              events: [
                {
                  ...web,
                  type: type('PURCHASE'),
                  // annaberg@example.com: Reddit counts neither dots nor tags
                  user: {
                    ...browser,
                    email: 'fd4bdd75cb213bc0d4a32542fce9e0ffc56b95ea7a5e60beecea7c6b4fff53d9',
                    phone_number: HASHED.phone,
                  },
                  metadata: {
                    ...metadata,
                    item_count: 3,
                    value: 42.5,
                    currency: 'EUR',
                    products: [
                      { id: 'p-1', name: 'Tea', category: 'Drinks', item_price: 10, quantity: 2 },
                      { id: 'S2', name: 'Cup', item_price: 22.5, quantity: 1 },
                    ],
                  },
                },
              ],
            },
          },
        },
      ],
    },
    {
      name: 'the example of the documentation: Al.ice+Apple@Example.Com is hashed as alice@example.com, with limited data use',
      config: { limited_data_use: true },
      event: track(
        'Signed Up',
        {},
        { user_id: 'u', traits: { email: 'Al.ice+Apple@Example.Com', phone: '+15554441234', address: { country: 'usa' } }, context: {} },
      ),
      requests: sent({
        event_at: 1767323045678,
        action_source: 'OTHER',
        type: type('SIGN_UP'),
        metadata,
        user: {
          email: 'ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976',
          phone_number: 'e5b124c58580eb16bd959b8d0cac12b12c952e2ceae0203d416cff94f10b994a',
          external_id: '0bfe935e70c321c7ca3afc75ce0d0ca2f98b5422e008bb31c00c6d7f1f1c0ad6',
          data_processing_options: { modes: ['LDU'], country: 'US' },
        },
      }),
    },
    {
      name: 'a page visit',
      event: pageViewed({ context }),
      requests: sent({ ...web, type: type('PAGE_VISIT'), user: browser, metadata: { conversion_id: 'evt-2' } }),
    },
    {
      name: 'an iOS app: the advertising id in upper case, hashed, and no page',
      event: track(
        'Lead Generated',
        {},
        { traits: {}, context: { os: { name: 'iOS' }, device: { advertising_id: 'ab-cd' }, page: { url: 'https://x.example/' } } },
      ),
      requests: sent({
        event_at: 1767323045678,
        action_source: 'APP',
        type: type('LEAD'),
        metadata,
        user: { external_id: HASHED.user_id, idfa: '07d0e0e2c86f9e99c2a4c12144acc4fcbe7cf38e92f9d43c01219bf2a8d52da6' },
      }),
    },
    {
      name: 'an Android app: the advertising id in lower case, hashed',
      event: track('Lead Generated', {}, { traits: {}, context: { os: { name: 'Android' }, device: { advertising_id: 'AB-CD' } } }),
      requests: sent({
        event_at: 1767323045678,
        action_source: 'APP',
        type: type('LEAD'),
        metadata,
        user: { external_id: HASHED.user_id, aaid: '5db3d84c79b48df5adbc40077543c90ac686162b35624c0c15ce710c80c32b3f' },
      }),
    },
    ...named(
      [
        ['Product Added', 'ADD_TO_CART', 'retail'],
        ['Product Added to Wishlist', 'ADD_TO_WISHLIST', 'retail'],
      ],
      (event, name) => ({
        event: visit(event, { product_id: 'p-1', price: 10, quantity: 3, currency: 'USD' }),
        requests: sent({
          ...web,
          type: type(name),
          user: browser,
          metadata: { ...metadata, value: 30, currency: 'USD', item_count: 3, products: [{ id: 'p-1', item_price: 10, quantity: 3 }] },
        }),
      }),
    ),
    ...named(
      [
        ['Product Viewed', 'VIEW_CONTENT', 'retail'],
        ['Offer Viewed', 'VIEW_CONTENT', 'travel'],
      ],
      (event, name) => ({
        event: visit(event, { product_id: 'p-1', price: 10, currency: 'USD' }),
        requests: sent({
          ...web,
          type: type(name),
          user: browser,
          metadata: { ...metadata, products: [{ id: 'p-1', item_price: 10, quantity: 1 }] },
        }),
      }),
    ),
    ...named(
      [
        ['Products Searched', 'SEARCH', 'retail'],
        ['Product List Viewed', 'VIEW_CONTENT', 'retail'],
        ['Hotel Searched', 'SEARCH', 'travel'],
        ['Article Viewed', 'VIEW_CONTENT', 'media'],
        ['Demo Requested', 'LEAD', 'saas'],
      ],
      (event, name) => ({ event: visit(event, { query: 'tea' }), requests: sent({ ...web, type: type(name), user: browser, metadata }) }),
    ),
    ...named(
      [
        ['Checkout Started', 'CUSTOM', 'retail'],
        ['Booking Started', 'CUSTOM', 'travel'],
        ['Payment Info Entered', 'CUSTOM', 'retail'],
        ['Trial Started', 'CUSTOM', 'saas'],
        ['Subscription Started', 'CUSTOM', 'media'],
      ],
      (event, name) => ({
        event: visit(event, { value: 5, currency: 'USD' }),
        requests: sent({
          ...web,
          type: { tracking_type: name, custom_event_name: event },
          user: browser,
          metadata: { ...metadata, value: 5, currency: 'USD' },
        }),
      }),
    ),
    {
      name: 'a batch; a value without a currency is left out',
      event: visit('Lead Generated', { value: 5 }),
      batched: [visit('Signed Up')],
      requests: sent({ ...web, type: type('LEAD'), user: browser, metadata }, { ...web, type: type('SIGN_UP'), user: browser, metadata }),
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:click_id' },
    { name: 'an event of 8 days', event: order, now: '2026-01-10T03:04:06Z', dropped: 'event_too_old' },
    { name: 'a refund', event: track('Order Refunded'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: { status: 200, body: { data: { message: 'Successfully processed 1 conversion events.' } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a bad event',
      events: [order],
      reply: { status: 400, body: { error: { message: 'There were 1 invalid conversion events. None were processed.' } } },
      verdict: { kind: 'refused' },
    },
    { name: 'a bad event among several', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    {
      name: 'a bad token',
      events: [order, order],
      reply: { status: 401, body: { error: { message: 'UNAUTHORIZED' } } },
      verdict: { kind: 'refused', reason: 'http_401: UNAUTHORIZED' },
    },
    { name: 'no permission for the pixel', events: [order, order], reply: { status: 403, body: {} }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
