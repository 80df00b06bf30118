import { temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, track } from '../shared/sample-events.ts';
import cj from './vendor.ts';

const url = (fields: Record<string, string>) => `https://www.emjcd.com/u?${new URLSearchParams(fields)}`;
const context = { ...CONTEXT, click_ids: { cjevent: 'cje0123456789' } };
const order = orderCompleted({}, { context });
const base = { CID: '1234567', METHOD: 'S2S', CJEVENT: 'cje0123456789', EVENTTIME: '2026-01-02T03:04:05.678Z' };

export default vendorCases(
  cj,
  [
    {
      name: 'an order with numbered items at their unit price',
      event: orderCompleted({ discount: 3, is_new_customer: true }, { context }),
      requests: [
        {
          method: 'GET',
          url: url({
            ...base,
            OID: 'o-1',
            CUST_STATUS: 'New',
            CURRENCY: 'EUR',
            COUPON: 'TEA10',
            DISCOUNT: '3',
            TYPE: '345678',
            ITEM1: 'p-1',
            AMT1: '10',
            QTY1: '2',
            ITEM2: 'S2',
            AMT2: '22.5',
            QTY2: '1',
          }),
        },
      ],
    },
    {
      name: 'an order without items; the click id from the cookie cje, cut at 64 characters',
      event: track(
        'Order Completed',
        { order_id: 'o-2', revenue: 35, currency: 'USD' },
        { context: { vendor_ids: { cje: 'c'.repeat(70) } } },
      ),
      requests: [{ url: url({ ...base, CJEVENT: 'c'.repeat(64), OID: 'o-2', CURRENCY: 'USD', AMOUNT: '35', TYPE: '345678' }) }],
    },
    {
      name: 'a lead of a returning customer through the table',
      variant: 'saas',
      config: { action_trackers: [{ event: 'Lead Generated', action_tracker_id: '9' }] },
      event: track('Lead Generated', { is_new_customer: false }, { context }),
      requests: [{ url: url({ ...base, OID: 'evt-1', CUST_STATUS: 'Return', TYPE: '9' }) }],
    },
    {
      name: 'an order whose products have no prices',
      event: orderCompleted({ products: [{ product_id: 'p-1', quantity: 2 }, { product_id: 'p-2' }] }, { context }),
      requests: [{ contains: { AMOUNT: '35', ITEM1: undefined, QTY1: undefined } }],
    },
    { name: 'an order without a click', event: orderCompleted({}, { context: {} }), dropped: 'missing_required:CJEVENT' },
    {
      name: 'an order without a currency',
      event: track('Order Completed', { order_id: 'o-1' }, { context }),
      dropped: 'missing_required:CURRENCY',
    },
    { name: 'an event without a tracker', event: track('Signed Up', {}, { context }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'received', events: [order], reply: { status: 200, body: '' }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: '' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
