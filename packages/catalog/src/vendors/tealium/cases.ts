import { sentAs, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import tealium from './vendor.ts';

const url = 'https://collect.tealiumiq.com/event';
const head = { tealium_account: 'acme', tealium_profile: 'main' };
const ids = { tealium_visitor_id: 'anon-1', customer_id: 'user-1', event_timestamp: '2026-01-02T03:04:05.678Z' };
const web = {
  page_url: 'https://shop.example/checkout?x=1',
  page_referrer: 'https://www.example.org/',
  page_title: 'Checkout',
  ip_address: '203.0.113.7',
  user_agent: CONTEXT.user_agent,
  language: 'de-DE',
};
const email = { customer_email: 'anna.berg@example.com' };
const says = (body: object) => [
  { method: 'POST', url, headers: { 'Content-Type': 'application/json' }, body: { ...head, ...ids, ...body } },
];
const order = orderCompleted();

export default vendorCases(
  tealium,
  [
    {
      name: 'an order, its products as parallel lists',
      event: order,
      requests: says({
        tealium_event: 'purchase',
        event_id: 'evt-1',
        ...email,
        ...web,
        order_id: 'o-1',
        total: 42.5,
        revenue: 35,
        tax: 5,
        shipping: 2.5,
        currency: 'eur',
        coupon: 'TEA10',
        order_total: 42.5,
        order_currency: 'EUR',
        order_tax: 5,
        order_shipping: 2.5,
        product_id: ['p-1', 'S2'],
        product_name: ['Tea', 'Cup'],
        product_category: ['Drinks', ''],
        product_brand: ['Leaf', ''],
        product_unit_price: [10, 22.5],
        product_quantity: [2, 1],
      }),
    },
    {
      name: 'a product',
      variant: 'retail',
      event: productViewed({ context: {}, traits: {} }),
      requests: says({
        tealium_event: 'product_view',
        event_id: 'evt-1',
        product_id: ['p-1'],
        product_name: ['Tea'],
        product_category: ['Drinks'],
        product_unit_price: [10],
        name: 'Tea',
        category: 'Drinks',
        price: 10,
        currency: 'EUR',
      }),
    },
    {
      name: 'any other event, flattened, with a trace and a data source',
      config: { data_source: 'abc123', trace_id: '00001' },
      event: track('Quiz Taken', { score: { right: 3 } }, { context: {}, traits: {} }),
      requests: says({
        tealium_event: 'Quiz Taken',
        event_id: 'evt-1',
        score_right: 3,
        tealium_datasource: 'abc123',
        tealium_trace_id: '00001',
      }),
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({ tealium_event: 'page_view', event_id: 'evt-2', ...web, path: '/', page_name: 'Home' }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { app: { version: '2' } } }),
      requests: says({ tealium_event: 'screen_view', event_id: 'evt-2', path: '/', screen_name: 'Home', app_version: '2' }),
    },
    {
      name: 'identify',
      event: identified({ context: {}, traits: { email: 'anna@example.com', address: { city: 'Bonn' } } }),
      requests: says({
        tealium_event: 'user_update',
        event_id: 'evt-3',
        customer_email: 'anna@example.com',
        email: 'anna@example.com',
        address_city: 'Bonn',
      }),
    },
    {
      name: 'group',
      // Address and number in the traits are those of the group.
      event: grouped({ context: {}, traits: { name: 'Acme', email: 'info@acme.example', phone: '+49301234567' } }),
      requests: says({ tealium_event: 'group', event_id: 'evt-4', group_id: 'acme', group_name: 'Acme' }),
    },
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:tealium_visitor_id' },
    ...sentAs('tealium_event', {
      'Signed Up': 'user_register',
      'Signed In': 'user_login',
      'Products Searched': 'search',
      'Product List Viewed': 'category_view',
      'Product Added': 'cart_add',
      'Product Removed': 'cart_remove',
      'Cart Viewed': 'cart_view',
      'Checkout Started': 'checkout',
      'Product Added to Wishlist': 'wishlist_add',
    }),
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200 }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
