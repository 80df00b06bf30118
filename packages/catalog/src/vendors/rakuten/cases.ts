import { lacking, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, PRODUCTS, track } from '../shared/sample-events.ts';
import rakuten from './vendor.ts';

const url = (fields: Record<string, string>) => `https://track.linksynergy.com/ep?${new URLSearchParams(fields)}`;
const context = { ...CONTEXT, click_ids: { ranSiteID: 'site-1' }, click_id_times: { ranSiteID: '2025-12-31T23:59:00Z' } };
const order = orderCompleted({}, { context });
const base = { mid: '12345', xml: '1', tr: 'site-1', land: '20251231_2359', date: '20260102_0304', custid: 'user-1' };

export default vendorCases(
  rakuten,
  [
    {
      name: 'an order: line totals in cents, and when the visitor arrived',
      event: order,
      requests: [
        {
          method: 'GET',
          url: url({
            ...base,
            ord: 'o-1',
            cur: 'EUR',
            skulist: 'S1|S2',
            qlist: '2|1',
            amtlist: '2000|2250',
            namelist: 'Tea|Cup',
            coupon: 'TEA10',
          }),
        },
      ],
    },
    {
      name: 'yen have no cents; a pipe in a name is replaced',
      variant: 'travel',
      event: track(
        'Booking Completed',
        { booking_id: 'b-1', currency: 'JPY', products: [{ sku: 'R', name: 'Room | sea', price: 12000 }] },
        { context },
      ),
      requests: [{ url: url({ ...base, ord: 'b-1', cur: 'JPY', skulist: 'R', qlist: '1', amtlist: '12000', namelist: 'Room _ sea' }) }],
    },
    {
      name: 'a refund is negative',
      event: track('Order Refunded', { order_id: 'o-1', currency: 'EUR', products: PRODUCTS.slice(0, 1) }, { context }),
      requests: [{ url: url({ ...base, ord: 'o-1', cur: 'EUR', skulist: 'S1', qlist: '2', amtlist: '-2000', namelist: 'Tea' }) }],
    },
    {
      name: 'a refund that the shop writes with a minus',
      event: track('Order Refunded', { order_id: 'o-1', currency: 'EUR', products: [{ sku: 'S1', price: -10, quantity: 2 }] }, { context }),
      requests: [{ contains: { amtlist: '-2000' } }],
    },
    {
      name: 'the lists have one place for each product, whatever it lacks',
      event: orderCompleted(
        {
          products: [
            { product_id: 'p|1', quantity: 2 },
            { name: 'Bag', price: 5 },
            { sku: 'S3', price: 3 },
          ],
        },
        { context },
      ),
      requests: [{ contains: { skulist: 'p_1|Bag|S3', qlist: '2|1|1', amtlist: '0|500|300', namelist: 'p_1|Bag|S3' } }],
    },
    {
      name: 'an order whose products have no prices',
      event: orderCompleted({ products: [{ sku: 'S1' }] }, { context }),
      dropped: 'missing_required:amtlist',
    },
    { name: 'an order without a click', event: orderCompleted({}, { context: {} }), dropped: 'missing_required:tr' },
    {
      name: 'an order without an id',
      event: track('Order Completed', { currency: 'EUR', products: PRODUCTS }, { context }),
      dropped: 'missing_required:ord',
    },
    {
      name: 'an order without a currency',
      event: track('Order Completed', { order_id: 'o-1', products: PRODUCTS }, { context }),
      dropped: 'missing_required:cur',
    },
    {
      name: 'an order without products',
      event: track('Order Completed', { order_id: 'o-1', currency: 'EUR' }, { context }),
      dropped: 'missing_required:skulist',
    },
    ...lacking({ amtlist: orderCompleted({ products: [{ sku: 'S1', name: 'Tea' }] }, { context }) }),
    { name: 'a sign-up', event: track('Signed Up', {}, { context }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    {
      name: 'received',
      events: [order],
      reply: {
        status: 200,
        body: '<response><unique_id>u-1</unique_id><summary><transactions><good>2</good><bad>0</bad></transactions></summary></response>',
      },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'bad transactions come as 200',
      events: [order],
      reply: {
        status: 200,
        body: '<response><unique_id>u-1</unique_id><summary><transactions><good>0</good><bad>2</bad></transactions></summary></response>',
      },
      verdict: { kind: 'refused' },
    },
    {
      name: 'an error comes as 200',
      events: [order],
      reply: { status: 200, body: '<response><error>Access denied</error></response>' },
      verdict: { kind: 'refused', reason: 'http_200: <response><error>Access denied</error></response>' },
    },
    { name: 'rejected', events: [order], reply: { status: 400, body: '' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
