import { temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import stackadapt from './vendor.ts';

const url = (fields: Record<string, string>) => `https://tags.srv.stackadapt.com/saq_pxl?${new URLSearchParams(fields)}`;
const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)', 'X-Forwarded-For': '203.0.113.7' };
const context = { ...CONTEXT, vendor_ids: { stackadapt_user_id: 'sa-v1-abc' } };
const base = {
  uid: 'abCDef12345_-xyz',
  url: 'https://shop.example/checkout?x=1',
  ref: 'https://www.example.org/',
  title: 'Checkout',
  user_id: 'sa-v1-abc',
  ip_fwd: '203.0.113.7',
  ua_fwd: 'Mozilla/5.0 (X11; Linux x86_64)',
};
const order = orderCompleted({}, { context });

export default vendorCases(
  stackadapt,
  [
    {
      name: 'an order: the visitor’s address and browser are headers, nothing personal is sent',
      event: order,
      requests: [
        {
          method: 'GET',
          headers,
          url: url({
            ...base,
            args: '{"order_id":"o-1","products":[{"product_id":"p-1","product_name":"Tea","product_category":"Drinks","product_price":10,"product_quantity":2},{"product_id":"S2","product_name":"Cup","product_price":22.5,"product_quantity":1}],"revenue":42.5,"action":"Order Completed"}',
          }),
        },
      ],
    },
    {
      name: 'a product viewed',
      variant: 'retail',
      event: track('Product Viewed', { product_id: 'p-1', name: 'Tea', category: 'Drinks', price: '10', quantity: 1 }, { context }),
      requests: [
        {
          headers,
          url: url({
            ...base,
            args: '{"product_id":"p-1","product_name":"Tea","product_category":"Drinks","product_price":10,"product_quantity":1,"action":"Product Viewed"}',
          }),
        },
      ],
    },
    {
      name: 'a product whose name and category are numbers: texts',
      variant: 'retail',
      event: track('Product Viewed', { product_id: 7, name: 1984, category: 12, price: '10', quantity: '2' }, { context }),
      requests: [
        {
          headers,
          url: url({
            ...base,
            args: '{"product_id":"7","product_name":"1984","product_category":"12","product_price":10,"product_quantity":2,"action":"Product Viewed"}',
          }),
        },
      ],
    },
    {
      name: 'a lead with a value',
      variant: 'saas',
      event: track('Lead Generated', { value: 5 }, { context }),
      requests: [{ headers, url: url({ ...base, args: '{"revenue":5,"action":"Lead Generated"}' }) }],
    },
    {
      name: 'an event without values has its action, which rules compare',
      variant: 'media',
      event: track('Article Viewed', {}, { context }),
      requests: [{ headers, url: url({ ...base, args: '{"action":"Article Viewed"}' }) }],
    },
    { name: 'a page', event: pageViewed({ context }), requests: [{ headers, url: url(base) }] },
    {
      name: 'any other event',
      event: track('Quiz Taken', {}, { context }),
      requests: [{ headers, url: url({ ...base, args: '{"action":"Quiz Taken"}' }) }],
    },
    { name: 'no IP address', event: bare('Order Completed'), dropped: 'missing_required:ip_fwd' },
    {
      name: 'no user agent',
      event: track('Order Completed', {}, { context: { ip: '203.0.113.7' } }),
      dropped: 'missing_required:ua_fwd',
    },
    { name: 'an identify is no event', event: identified({ context }), dropped: 'mapping_filter' },
  ],
  [
    { name: 'received', events: [order], reply: { status: 200, body: '' }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: '' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
