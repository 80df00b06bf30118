import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import x from './vendor.ts';

const url = 'https://ads-api.x.com/12/measurement/conversions/o8z6j';
const context = { ...CONTEXT, click_ids: { twclid: '23opevjt88psuo13lu8d020qkn' } };
const visit = visitOf(context);
const click = { twclid: '23opevjt88psuo13lu8d020qkn' };
const device = { ip_address: '203.0.113.7', user_agent: 'Mozilla/5.0 (X11; Linux x86_64)' };
const base = { conversion_time: '2026-01-02T03:04:05.678Z', event_id: 'tw-o8z6j-o87ne', conversion_id: 'evt-1' };
const order = orderCompleted({}, { context });
const sent = (...conversions: unknown[]) => [{ url, body: { conversions } }];

export default vendorCases(
  x,
  [
    {
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: {
            conversions: [
              {
                ...base,
                identifiers: [click, { hashed_email: HASHED.email }, { hashed_phone_number: HASHED.phone }, device],
                value: 42.5,
                price_currency: 'EUR',
                number_items: 3,
                contents: [
                  { content_id: 'p-1', content_name: 'Tea', content_type: 'Drinks', content_price: 10, num_items: 2 },
                  { content_id: 'S2', content_name: 'Cup', content_price: 22.5, num_items: 1 },
                ],
              },
            ],
          },
        },
      ],
    },
    {
      name: 'the hashes of the documentation (its e-mail hash is that of test@twitter.com); without a user agent no IP address',
      event: track(
        'Order Completed',
        {},
        { traits: { email: ' test@twitter.com', phone: '+11234567890' }, context: { ip: '203.0.113.7' } },
      ),
      requests: sent({
        ...base,
        identifiers: [
          { hashed_email: 'd360d510a224510f373931ce2d6215a799f5a9c1cef221b0149b6b6b50cced62' },
          { hashed_phone_number: '1fa6b8d986d9b9cd01bf36951815158bbde9f520c0567c835dfe34783d0a4231' },
        ],
      }),
    },
    {
      name: 'a product viewed and a page view have rows of their own',
      variant: 'retail',
      config: { events_table: [{ event: 'Product Viewed', event_id: 'o11' }] },
      event: visit('Product Viewed', { product_id: 'p-1', name: 'Tea', price: 10, currency: 'EUR' }),
      requests: sent({
        ...base,
        event_id: 'o11',
        identifiers: [click, device],
        description: 'Tea',
        contents: [{ content_id: 'p-1', content_name: 'Tea', content_price: 10, num_items: 1 }],
        value: 10,
        price_currency: 'EUR',
      }),
    },
    {
      name: 'a page view',
      config: { events_table: [{ event: '@page', event_id: 'o12' }] },
      event: pageViewed({ context }),
      requests: sent({ ...base, event_id: 'o12', conversion_id: 'evt-2', identifiers: [click, device] }),
    },
    {
      name: 'a search',
      variant: 'retail',
      config: { events_table: [{ event: 'Products Searched', event_id: 'o14' }] },
      event: visit('Products Searched', { query: 'green tea' }),
      requests: sent({ ...base, event_id: 'o14', identifiers: [click, device], search_string: 'green tea' }),
    },
    {
      name: 'a booking in the travel variant',
      variant: 'travel',
      config: { events_table: [{ event: 'Booking Completed', event_id: 'o13' }] },
      event: visit('Booking Completed', { booking_id: 'b-1', total: 99.9, currency: 'usd' }),
      requests: sent({ ...base, event_id: 'o13', identifiers: [click, device], value: 99.9, price_currency: 'USD' }),
    },
    {
      name: 'a batch; a value without a currency would be counted as US dollars and is left out',
      event: visit('Order Completed', { total: 5 }),
      batched: [visit('Order Completed')],
      requests: sent({ ...base, identifiers: [click, device] }, { ...base, identifiers: [click, device] }),
    },
    {
      name: 'an IP address and a user agent match nobody',
      event: track('Order Completed', {}, { traits: {} }),
      dropped: 'missing_required:identifiers[*].twclid',
    },
    { name: 'nobody to match', event: bare('Order Completed'), dropped: 'missing_required:identifiers[*].twclid' },
    { name: 'an event without a row', event: track('Signed Up'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: { status: 200, body: { data: { conversions_processed: 1, debug_id: 'ff02e052' } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a bad event',
      events: [order],
      reply: { status: 400, body: { errors: [{ code: 'INVALID_PARAMETER', message: 'event_id' }] } },
      verdict: { kind: 'refused' },
    },
    { name: 'a bad event among several', events: [order, order], reply: { status: 400, body: { errors: [] } }, verdict: ISOLATED },
    {
      name: 'a bad signature',
      events: [order, order],
      reply: { status: 401, body: { errors: [{ code: 'UNAUTHORIZED_ACCESS', message: 'no' }] } },
      verdict: { kind: 'refused', reason: 'http_401: no' },
    },
    ...temporaryAnswers(order),
  ],
);
