import { ISOLATED, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import adroll from './vendor.ts';

const url = 'https://srv.adroll.com/api?advertisable=ABCDEFGHIJKLMNOPQRSTUV';
const context = { ...CONTEXT, click_ids: { adct: 'adct-1' }, vendor_ids: { adroll_fpc: 'fpc-1' } };
const visit = visitOf(context);
const base = {
  advertisable_eid: 'ABCDEFGHIJKLMNOPQRSTUV',
  pixel_eid: 'ZYXWVUTSRQPONMLKJIHGFE',
  page_location: 'https://shop.example/checkout?x=1',
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  timestamp: 1767323045,
};
const identifiers = { adct: 'adct-1', first_party_cookie: 'fpc-1', user_id: 'user-1' };
const order = orderCompleted({}, { context });
const sent = (...body: unknown[]) => [{ url, body }];

export default vendorCases(
  adroll,
  [
    {
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Token exampletoken0123456789' },
          body: [
            {
              ...base,
              event_name: 'purchase',
              identifiers: { ...identifiers, email_sha256: HASHED.email },
              conversion_value: 42.5,
              currency: 'EUR',
              event_attributes: {
                order_id: 'o-1',
                products: [
                  { product_id: 'p-1', category: 'Drinks', price: 10, quantity: 2 },
                  { product_id: 'S2', price: 22.5, quantity: 1 },
                ],
              },
            },
          ],
        },
      ],
    },
    {
      name: 'a page view, if enabled, as a dry run',
      config: { dry_run: true, events: { '@page': { enabled: true } } },
      event: pageViewed({ context }),
      requests: [{ url: `${url}&dry_run=1`, body: [{ ...base, event_name: 'pageView', identifiers }] }],
    },
    {
      name: 'a search',
      variant: 'retail',
      event: visit('Products Searched', { query: 'tea' }),
      requests: sent({ ...base, event_name: 'productSearch', identifiers, event_attributes: { keywords: 'tea' } }),
    },
    ...named(
      [
        ['Product Viewed', 'pageView', 'retail'],
        ['Product Added', 'addToCart', 'retail'],
      ],
      (event, event_name) => ({
        event: visit(event, { product_id: 'p-1', price: 10, currency: 'USD' }),
        requests: sent({
          ...base,
          event_name,
          identifiers,
          conversion_value: 10,
          currency: 'USD',
          event_attributes: { products: [{ product_id: 'p-1', price: 10, quantity: 1 }] },
        }),
      }),
    ),
    ...named(
      [
        ['Product List Viewed', 'productSearch', 'retail'],
        ['Lead Generated', 'formFill', 'retail'],
        ['Demo Requested', 'demoRequest', 'saas'],
        ['Trial Started', 'signupTrial', 'saas'],
        ['Subscription Started', 'signupPlan', 'media'],
        ['Flight Viewed', 'pageView', 'travel'],
      ],
      (event, event_name) => ({ event: visit(event, { value: 5 }), requests: sent({ ...base, event_name, identifiers }) }),
    ),
    {
      name: 'a batch is a plain list; an app sends its device in addition',
      event: visit('Lead Generated'),
      batched: [track('Lead Generated', {}, { traits: {}, context: { ...context, device: { advertising_id: 'gaid-1' } } })],
      requests: sent(
        { ...base, event_name: 'formFill', identifiers },
        { ...base, event_name: 'formFill', identifiers: { ...identifiers, device_id: 'gaid-1' } },
      ),
    },
    { name: 'page views are off', event: pageViewed({ context }), dropped: 'mapping_filter' },
    { name: 'no page', event: track('Lead Generated', {}, { context: { ip: '203.0.113.7' } }), dropped: 'missing_required:page_location' },
    {
      name: 'no IP address',
      event: track('Lead Generated', {}, { context: { page: { url: 'https://x.example/' } } }),
      dropped: 'missing_required:ip',
    },
    {
      name: 'an e-mail address alone',
      event: track('Lead Generated'),
      dropped: 'missing_required:identifiers.first_party_cookie',
    },
    {
      name: 'nobody to match',
      event: track('Lead Generated', {}, { traits: {} }),
      dropped: 'missing_required:identifiers.first_party_cookie',
    },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { success: true } }, verdict: { kind: 'delivered' } },
    { name: 'a bad event', events: [order], reply: { status: 400, body: { error: 'no' } }, verdict: { kind: 'refused' } },
    { name: 'a bad event among several', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    { name: 'a bad token', events: [order, order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
