import { ISOLATED, incompleteSales, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import awin from './vendor.ts';

const url = 'https://api.awin.com/s2s/advertiser/12345/orders';
const context = { ...CONTEXT, click_ids: { awc: '12345_1700000000_abc' } };
const order = orderCompleted({}, { context });
const other = orderCompleted({ order_id: 'o-2' }, { context });
const head = { channel: 'aw', transactionTime: 1767323045, awc: '12345_1700000000_abc' };
const sale = (amount: number, orderReference: string) => ({
  ...head,
  orderReference,
  amount,
  currency: 'EUR',
  commissionGroups: [{ code: 'DEFAULT', amount }],
});
const sent = (...orders: unknown[]) => [{ url, body: { orders } }];

export default vendorCases(
  awin,
  [
    {
      name: 'a sale: the revenue without tax and delivery, nothing personal',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { 'x-api-key': '0a1b2c3d-example-key' },
          body: {
            orders: [
              {
                ...sale(35, 'o-1'),
                voucher: 'TEA10',
                basket: [
                  { id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, quantity: 2 },
                  { id: 'S2', name: 'Cup', price: 22.5, quantity: 1 },
                ],
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a voucher that is a number: a text',
      event: orderCompleted({ coupon: 10 }, { context }),
      requests: [{ contains: { 'orders[0].voucher': '10' } }],
    },
    {
      name: 'a voucher without a click, as a test in a commission group',
      config: { test_mode: true, commission_group: 'ELECTRO' },
      event: track(
        'Order Completed',
        { order_id: `${'x'.repeat(60)}`, subtotal: '12.5', total: 20, currency: 'gbp', coupon: 'TEN' },
        { context: {} },
      ),
      requests: sent({
        channel: 'aw',
        transactionTime: 1767323045,
        orderReference: 'x'.repeat(50),
        amount: 12.5,
        currency: 'GBP',
        voucher: 'TEN',
        isTest: true,
        commissionGroups: [{ code: 'ELECTRO', amount: 12.5 }],
      }),
    },
    ...named(
      [
        ['Lead Generated', 'lead', 'retail'],
        ['Demo Requested', 'lead', 'saas'],
      ],
      (event) => ({
        event: track(event, { lead_id: 'l-1' }, { context }),
        requests: sent({ ...head, orderReference: 'l-1', amount: 1, commissionGroups: [{ code: 'DEFAULT', amount: 1 }] }),
      }),
    ),
    ...named(
      [
        ['Booking Completed', 'sale', 'travel'],
        ['Subscription Started', 'sale', 'media'],
      ],
      (event) => ({
        event: track(event, { order_id: 'b-1', total: 99, currency: 'EUR' }, { context }),
        requests: sent(sale(99, 'b-1')),
      }),
    ),
    {
      name: 'a subscription without an order has the id of its event',
      event: track('Subscription Started', { value: 20, currency: 'EUR' }, { context }),
      requests: sent(sale(20, 'evt-1')),
    },
    ...[true, false].map((is_new_customer) => ({
      name: `a sale to a ${is_new_customer ? 'new' : 'known'} customer`,
      event: track('Order Completed', { order_id: 'o-1', total: 1, currency: 'EUR', is_new_customer }, { context }),
      requests: [{ contains: { 'orders[0].customerAcquisition': is_new_customer ? 'NEW' : 'RETURNING' } }],
    })),
    {
      name: 'a batch',
      event: track('Order Completed', { order_id: 'o-1', total: 1, currency: 'EUR' }, { context }),
      batched: [track('Order Completed', { order_id: 'o-2', total: 2, currency: 'EUR' }, { context })],
      requests: sent(sale(1, 'o-1'), sale(2, 'o-2')),
    },
    {
      name: 'a sale without an affiliate',
      event: orderCompleted({ coupon: undefined } as never, { context: {} }),
      dropped: 'missing_required:awc',
    },
    ...incompleteSales(context, { order_id: 'orderReference', amount: 'amount', currency: 'currency' }),
    { name: 'a page', event: pageViewed({ context }), dropped: 'mapping_default' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202, body: {} }, verdict: { kind: 'delivered' } },
    {
      name: 'one of two orders is rejected',
      events: [order, other],
      reply: {
        status: 206,
        body: {
          batchId: 'b-1',
          successfulOrders: [{ orderReference: 'o-1', correlationId: 'c-1' }],
          failedOrders: [{ order: { orderReference: 'o-2' }, errors: [{ field: 'awc', message: 'invalid' }] }],
        },
      },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_206: invalid' }] },
    },
    {
      name: 'a rejected order in the other shape',
      events: [order],
      reply: { status: 206, body: { failedOrders: [{ orderReference: 'o-1', message: 'unknown click' }] } },
      verdict: { kind: 'partial', items: [{ kind: 'refused', reason: 'http_206: unknown click' }] },
    },
    {
      name: 'a rejected order that is not named',
      events: [order, other],
      reply: { status: 206, body: { failedOrders: [{ id: 7 }] } },
      verdict: ISOLATED,
    },
    { name: 'a bad order', events: [order], reply: { status: 400, body: { errors: ['amount'] } }, verdict: { kind: 'refused' } },
    { name: 'a bad order among several', events: [order, order], reply: { status: 400, body: {} }, verdict: ISOLATED },
    { name: 'a bad key', events: [order, order], reply: { status: 401, body: {} }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
