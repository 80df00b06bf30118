import { ISOLATED, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import spotify from './vendor.ts';

const url = 'https://capi.spotify.com/capi-direct/events/';
const visit = visitOf(CONTEXT);
const web = {
  event_id: 'evt-1',
  event_time: '2026-01-02T03:04:05.678Z',
  action_source: 'WEB',
  event_source_url: 'https://shop.example/checkout?x=1',
};
const browser = { ip_address: '203.0.113.7' };
const order = orderCompleted();
const sent = (...events: unknown[]) => [
  { url, body: { conversion_events: { capi_connection_id: '0a1b2c3d4e5f60718293a4b5c6d7e8f9', events } } },
];

export default vendorCases(
  spotify,
  [
    {
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer sp_exampletoken0123456789' },
          body: {
            conversion_events: {
              capi_connection_id: '0a1b2c3d4e5f60718293a4b5c6d7e8f9',
              events: [
                {
                  ...web,
                  event_name: 'PURCHASE',
                  user_data: { hashed_emails: [HASHED.email], hashed_phone_number: HASHED.phone, ...browser },
                  event_details: { amount: 42.5, currency: 'EUR' },
                },
              ],
            },
          },
        },
      ],
    },
    { name: 'a page view', event: pageViewed(), requests: sent({ ...web, event_id: 'evt-2', event_name: 'VIEW', user_data: browser }) },
    {
      name: 'an app event, with consent denied',
      event: track(
        'Signed Up',
        {},
        { traits: {}, context: { device: { advertising_id: 'gaid-1' }, consent: { canonical: { marketing: false } } } },
      ),
      requests: sent({
        event_id: 'evt-1',
        event_time: '2026-01-02T03:04:05.678Z',
        action_source: 'APP',
        opt_out_targeting: true,
        event_name: 'SIGN_UP',
        user_data: { device_id: 'gaid-1' },
      }),
    },
    {
      name: 'a product viewed',
      variant: 'retail',
      event: visit('Product Viewed', { product_id: 'p-1', name: 'Tea', price: 10, currency: 'EUR' }),
      requests: sent({
        ...web,
        event_name: 'PRODUCT',
        user_data: browser,
        event_details: { content_name: 'Tea', amount: 10, currency: 'EUR' },
      }),
    },
    ...named(
      [
        ['Product Added', 'ADD_TO_CART', 'retail'],
        ['Checkout Started', 'CHECK_OUT', 'retail'],
        ['Lead Generated', 'LEAD', 'saas'],
        ['Offer Viewed', 'PRODUCT', 'travel'],
        ['Article Viewed', 'PRODUCT', 'media'],
      ],
      (name, event_name) => ({ event: visit(name), requests: sent({ ...web, event_name, user_data: browser }) }),
    ),
    {
      name: 'an offline batch; an amount without a currency is left out',
      event: track('Lead Generated', { value: 5 }, { traits: { email: 'anna.berg@example.com' }, context: {} }),
      batched: [visit('Signed Up')],
      requests: sent(
        {
          event_id: 'evt-1',
          event_time: '2026-01-02T03:04:05.678Z',
          action_source: 'OFFLINE',
          event_name: 'LEAD',
          user_data: { hashed_emails: [HASHED.email] },
        },
        { ...web, event_name: 'SIGN_UP', user_data: browser },
      ),
    },
    { name: 'a purchase without a currency', event: orderCompleted({ currency: '€' }), dropped: 'missing_required:event_details.currency' },
    {
      name: 'a purchase without an amount',
      event: track('Order Completed', { currency: 'EUR' }),
      dropped: 'missing_required:event_details.amount',
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:user_data.hashed_emails' },
    { name: 'a search has no name', event: visit('Products Searched'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { message: 'SUCCESS' } }, verdict: { kind: 'delivered' } },
    { name: 'a bad event', events: [order], reply: { status: 400, body: { message: 'event_time' } }, verdict: { kind: 'refused' } },
    { name: 'a bad event among several', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    {
      name: 'a bad token',
      events: [order, order],
      reply: { status: 401, body: { message: 'no' } },
      verdict: { kind: 'refused', reason: 'http_401: no' },
    },
    ...temporaryAnswers(order),
  ],
);
