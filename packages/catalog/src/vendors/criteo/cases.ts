import { named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, HASHED, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import criteo from './vendor.ts';

const url = 'https://widget.criteo.com/m/event?version=s2s_v0';
const context = { ...CONTEXT, vendor_ids: { crto_mapped_user_id: 'gum-1' } };
const visit = visitOf(context);
const base = {
  account: 12345,
  site_type: 'd',
  retailer_visitor_id: 'user-1',
  full_url: 'https://shop.example/checkout?x=1',
  previous_url: 'https://www.example.org/',
  ip: '203.0.113.7',
  useragent: 'Mozilla/5.0 (X11; Linux x86_64)',
};
const config = { caller_id: 'FIRSTHAND1' };
const id = { mapped_user_id: 'gum-1', mapping_key: 'FIRSTHAND1' };
const timestamp = '2026-01-02T03:04:05.678Z';
const order = orderCompleted({}, { context });
const sent = (event: object) => [{ url, body: { ...base, id, events: [{ timestamp, ...event }] } }];
const items = [
  { id: 'p-1', price: 10, quantity: 2 },
  { id: 'S2', price: 22.5, quantity: 1 },
];

export default vendorCases(
  criteo,
  [
    {
      name: 'a sale, with three hashes of the e-mail address',
      config,
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: {
            ...base,
            id: {
              ...id,
              email: {
                sha256: HASHED.email,
                md5: '82d601a42c8dd91bfc8b0e6cc783b330',
                sha256_md5: 'd3596f596752ab91d2b522d3db1a7a40638929bba52d4cb76ab670d05ad3d806',
              },
            },
            events: [{ event: 'trackTransaction', timestamp, id: 'o-1', currency: 'EUR', item: items }],
          },
        },
      ],
    },
    {
      name: 'a product without an id is not sent',
      config,
      event: orderCompleted(
        {
          products: [
            { name: 'Bag', price: 5 },
            { product_id: 'p-1', price: 10 },
          ],
        },
        { context },
      ),
      requests: [{ contains: { 'events[0].item': [{ id: 'p-1', price: 10, quantity: 1 }] } }],
    },
    { name: 'a page', config, event: pageViewed({ context }), requests: sent({ event: 'viewPage' }) },
    {
      name: 'a product page',
      config,
      variant: 'retail',
      event: visit('Product Viewed', { product_id: 'p-1', price: 10 }),
      requests: sent({ event: 'viewItem', item: 'p-1' }),
    },
    {
      name: 'a product added',
      config,
      variant: 'retail',
      event: visit('Product Added', { product_id: 'p-1', price: 10 }),
      requests: sent({ event: 'addToCart', item: [{ id: 'p-1', price: 10, quantity: 1 }] }),
    },
    {
      name: 'a list names its first three products',
      config,
      variant: 'retail',
      event: visit('Product List Viewed', { products: ['a', 'b', 'c', 'd'].map((product_id) => ({ product_id })) }),
      requests: sent({ event: 'viewList', item: ['a', 'b', 'c'] }),
    },
    {
      name: 'a search',
      config,
      variant: 'retail',
      event: visit('Products Searched', { query: 'tea' }),
      requests: sent({ event: 'viewList', keywords: 'tea' }),
    },
    ...named(
      [
        ['Cart Viewed', 'viewBasket', 'retail'],
        ['Checkout Started', 'beginCheckout', 'retail'],
        ['Payment Info Entered', 'addPaymentInfo', 'retail'],
        ['Booking Started', 'beginCheckout', 'travel'],
      ],
      (event, name) => ({
        config,
        event: visit(event, { products: order.properties?.products ?? [] }),
        requests: sent({ event: name, item: items }),
      }),
    ),
    { name: 'Signed In is login', config, event: visit('Signed In'), requests: sent({ event: 'login' }) },
    {
      name: 'an app is mobile, sent to the host of a region',
      config: { ...config, host: 'widget.eu.criteo.com' },
      event: track('Signed In', {}, { traits: {}, context: { app: { namespace: 'x' }, vendor_ids: { crto_mapped_user_id: 'gum-1' } } }),
      requests: [
        {
          url: 'https://widget.eu.criteo.com/m/event?version=s2s_v0',
          body: { account: 12345, site_type: 'm', retailer_visitor_id: 'user-1', id, events: [{ event: 'login', timestamp }] },
        },
      ],
    },
    { name: 'a sale without an order id', event: visit('Order Completed'), dropped: 'missing_required:events[0].id' },
    { name: 'a GUM ID without a caller ID', event: visit('Signed In'), dropped: 'missing_required:id.mapped_user_id' },
    { name: 'nobody to match', event: bare('Signed In'), dropped: 'missing_required:id.mapped_user_id' },
    { name: 'a refund', event: track('Order Refunded'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { errors: [], warnings: [] } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected inside a 200',
      events: [order],
      reply: { status: 200, body: { errors: ['UserIdentifierMissing'], warnings: [] } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'redirected to a region',
      events: [order],
      reply: { status: 307, headers: { location: 'https://widget.eu.criteo.com/m/event' } },
      verdict: { kind: 'unavailable', reason: 'http_307: https://widget.eu.criteo.com/m/event' },
    },
    { name: 'rejected', events: [order], reply: { status: 400, body: 'bad account' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
