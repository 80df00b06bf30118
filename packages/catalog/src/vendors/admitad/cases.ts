import { incompleteSales, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, track } from '../shared/sample-events.ts';
import admitad from './vendor.ts';

const url = (fields: Record<string, string>) => `https://ad.admitad.com/r?${new URLSearchParams(fields)}`;
const context = { ...CONTEXT, click_ids: { admitad_uid: 'uid-1' } };
const order = orderCompleted({}, { context });
const base = {
  postback: '1',
  campaign_code: 'abc123def4',
  postback_key: '0123456789abcdefExample',
  action_code: '1',
  tariff_code: '1',
  uid: 'uid-1',
  position_id: '1',
  position_count: '1',
  quantity: '1',
  client_id: 'user-1',
};

export default vendorCases(
  admitad,
  [
    {
      name: 'a sale as one position',
      event: order,
      requests: [
        {
          method: 'GET',
          url: url({ ...base, order_id: 'o-1', price: '35', currency_code: 'EUR', promocode: 'TEA10', payment_type: 'sale' }),
        },
      ],
    },
    ...named(
      [
        ['Booking Completed', 'sale', 'travel'],
        ['Subscription Started', 'sale', 'media'],
      ],
      (event, payment_type) => ({
        event: track(event, { order_id: 'b-1', subtotal: 9, total: 10, currency: 'USD' }, { context }),
        requests: [{ url: url({ ...base, order_id: 'b-1', price: '9', currency_code: 'USD', payment_type }) }],
      }),
    ),
    ...named(
      [
        ['Lead Generated', 'lead', 'retail'],
        ['Signed Up', 'lead', 'saas'],
      ],
      (event, payment_type) => ({
        event: track(event, {}, { context }),
        requests: [{ url: url({ ...base, order_id: 'evt-1', payment_type }) }],
      }),
    ),
    {
      name: 'a subscription without an order has the id of its event',
      event: track('Subscription Started', { value: 20, currency: 'EUR' }, { context }),
      requests: [{ url: url({ ...base, order_id: 'evt-1', price: '20', currency_code: 'EUR', payment_type: 'sale' }) }],
    },
    { name: 'a sale without a click', event: orderCompleted({}, { context: {} }), dropped: 'missing_required:uid' },
    ...incompleteSales(context, { order_id: 'order_id', amount: 'price', currency: 'currency_code' }),
    { name: 'a product view', event: track('Product Viewed', {}, { context }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'received', events: [order], reply: { status: 200, body: '' }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: '' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
