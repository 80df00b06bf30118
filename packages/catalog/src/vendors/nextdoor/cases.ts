import { named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import nextdoor from './vendor.ts';

const url = 'https://ads.nextdoor.com/v2/api/conversions/track';
const context = { ...CONTEXT, click_ids: { ndclid: 'nd-1' } };
const visit = visitOf(context);
const browser = {
  external_id: HASHED.user_id,
  client_ip_address: '203.0.113.7',
  client_user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  click_id: 'nd-1',
};
const web = {
  event_id: 'evt-1',
  event_time_epoch: 1767323045,
  data_source_id: '0a1b2c3d-1111-4222-8333-abcdefabcdef',
  action_source: 'website',
  action_source_url: 'https://shop.example/checkout?x=1',
};
const order = orderCompleted({}, { context });

export default vendorCases(
  nextdoor,
  [
    {
      name: 'a purchase: the value is one text with its currency',
      event: { ...order, traits: { ...order.traits, gender: 'female', birthday: '1990-03-07' } },
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer nd_exampletoken0123456789' },
          body: {
            ...web,
            event_name: 'purchase',
            customer: {
              email: HASHED.email,
              phone_number: HASHED.phone,
              first_name: HASHED.first_name,
              last_name: HASHED.last_name,
              gender: '252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111', // f
              date_of_birth: 'c3d027251d4c401cac8a836c65ef60d7bd316d022db7a35f61410a5c51245068', // 19900307
              city: HASHED.city,
              state: HASHED.state,
              zip_code: HASHED.zip,
              country: HASHED.country,
              ...browser,
            },
            custom: {
              order_id: 'o-1',
              order_value: 'EUR42.5',
              product_context: [
                { id: 'p-1', content_name: 'Tea', item_price: 10, quantity: 2 },
                { id: 'S2', content_name: 'Cup', item_price: 22.5, quantity: 1 },
              ],
            },
          },
        },
      ],
    },
    {
      name: 'a page view in test mode, with consent denied',
      config: { test_mode: true },
      event: pageViewed({ context: { ...context, consent: { canonical: { advertising: false } } } }),
      requests: [
        {
          url,
          body: { ...web, event_id: 'evt-2', event_name: 'page_view', test_event: 'true', delivery_optimization: false, customer: browser },
        },
      ],
    },
    {
      name: 'an app event',
      event: track(
        'Signed Up',
        {},
        {
          traits: { email: 'anna.berg@example.com' },
          context: { app: { namespace: 'com.shop', version: '2.1' }, os: { name: 'Android' } },
        },
      ),
      requests: [
        {
          body: {
            event_id: 'evt-1',
            event_time_epoch: 1767323045,
            data_source_id: '0a1b2c3d-1111-4222-8333-abcdefabcdef',
            action_source: 'app',
            event_name: 'sign_up',
            customer: { email: HASHED.email, external_id: HASHED.user_id },
            app: { app_id: 'com.shop', app_version: '2.1', app_tracking_enabled: false, platform: 'android' },
          },
        },
      ],
    },
    {
      name: 'an iOS app whose user allows tracking',
      event: track(
        'Signed Up',
        {},
        {
          traits: { email: 'anna.berg@example.com' },
          context: { app: { namespace: 'com.shop' }, os: { name: 'iOS' }, device: { ad_tracking_enabled: true } },
        },
      ),
      requests: [{ contains: { app: { app_id: 'com.shop', app_tracking_enabled: true, platform: 'ios' } } }],
    },
    ...named(
      [
        ['Products Searched', 'search', 'retail'],
        ['Product Viewed', 'view_content', 'retail'],
        ['Product Added', 'add_to_cart', 'retail'],
        ['Product Added to Wishlist', 'add_to_wishlist', 'retail'],
        ['Checkout Started', 'initiate_checkout', 'retail'],
        ['Lead Generated', 'lead', 'saas'],
        ['Subscription Started', 'subscribe', 'media'],
        ['Hotel Viewed', 'view_content', 'travel'],
      ],
      (event, event_name) => ({ event: visit(event), requests: [{ url, body: { ...web, event_name, customer: browser } }] }),
    ),
    {
      name: 'a purchase without a currency',
      event: track('Order Completed', { total: 5 }, { context }),
      dropped: 'missing_required:custom.order_value',
    },
    {
      name: 'a purchase without a value',
      event: track('Order Completed', { currency: 'USD' }, { context }),
      dropped: 'missing_required:custom.order_value',
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:customer.email' },
    { name: 'a refund', event: visit('Order Refunded'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: {} }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: { message: 'event_name' } }, verdict: { kind: 'refused' } },
    { name: 'a bad token', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
