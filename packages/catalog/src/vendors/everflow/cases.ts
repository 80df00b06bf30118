import { temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, track } from '../shared/sample-events.ts';
import everflow from './vendor.ts';

const url = (fields: Record<string, string>) => `https://www.example-trk.com/?${new URLSearchParams(fields)}`;
const context = { ...CONTEXT, click_ids: { _ef_transaction_id: 'ef-1' } };
const order = orderCompleted({}, { context });
const who = { timestamp: '1767323045', user_id: 'user-1', user_ip: '203.0.113.7', user_agent: 'Mozilla/5.0 (X11; Linux x86_64)' };

export default vendorCases(
  everflow,
  [
    {
      name: 'an order is the base conversion, without an event id',
      event: order,
      requests: [
        {
          method: 'GET',
          url: url({ nid: '1234', transaction_id: 'ef-1', coupon_code: 'TEA10', ...who, order_id: 'o-1', amount: '42.5', currency: 'EUR' }),
        },
      ],
    },
    {
      name: 'an event of the offer, verified, on iOS',
      variant: 'saas',
      config: { offer_events: [{ event: 'Trial Started', event_id: '17' }], verification_token: 'abcDEF123', advertiser_id: '5' },
      event: track(
        'Trial Started',
        {},
        { context: { click_ids: { _ef_transaction_id: 'ef-1' }, os: { name: 'iOS' }, device: { advertising_id: 'IDFA-1' } } },
      ),
      requests: [
        {
          url: url({
            nid: '1234',
            aid: '5',
            verification_token: 'abcDEF123',
            transaction_id: 'ef-1',
            timestamp: '1767323045',
            user_id: 'user-1',
            idfa: 'IDFA-1',
            event_id: '17',
          }),
        },
      ],
    },
    {
      name: 'a coupon without a click; an amount without a currency is left out',
      event: track('Order Completed', { order_id: 'o-2', total: 5, coupon: 'TEN' }, { context: {} }),
      requests: [{ url: url({ nid: '1234', coupon_code: 'TEN', timestamp: '1767323045', user_id: 'user-1', order_id: 'o-2' }) }],
    },
    { name: 'nobody to credit', event: track('Order Completed', {}, { context: {} }), dropped: 'missing_required:transaction_id' },
    { name: 'an event that the offer does not have', event: track('Signed Up', {}, { context }), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: '' }, verdict: { kind: 'delivered' } },
    { name: '204 is a rejected conversion', events: [order], reply: { status: 204 }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
