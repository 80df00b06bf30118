import { ISOLATED, named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { CONTEXT, identified, orderCompleted, pageViewed, track, visitOf } from '../shared/sample-events.ts';
import taboola from './vendor.ts';

const url = 'https://trc.taboola.com/1234567/log/3/bulk-s2s-action';
const context = { ...CONTEXT, click_ids: { tblci: 'GiBabc' } };
const visit = visitOf(context);
const base = { 'click-id': 'GiBabc', timestamp: 1767323045678 };
const order = orderCompleted({}, { context });
const sent = (...actions: unknown[]) => [{ url, body: { actions } }];

export default vendorCases(
  taboola,
  [
    {
      name: 'a purchase: nothing but the click id and the order',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: { actions: [{ ...base, name: 'make_purchase', revenue: 42.5, currency: 'EUR', quantity: 3, orderid: 'o-1' }] },
        },
      ],
    },
    { name: 'a page view', event: pageViewed({ context }), requests: sent({ ...base, name: 'page_view' }) },
    { name: 'an installed app', event: visit('Application Installed'), requests: sent({ ...base, name: 'app_install' }) },
    ...named(
      [
        ['Products Searched', 'search', 'retail'],
        ['Product List Viewed', 'view_content', 'retail'],
        ['Product Viewed', 'view_content', 'retail'],
        ['Product Added', 'add_to_cart', 'retail'],
        ['Product Added to Wishlist', 'add_to_wishlist', 'retail'],
        ['Checkout Started', 'start_checkout', 'retail'],
        ['Payment Info Entered', 'add_payment_info', 'retail'],
        ['Signed Up', 'complete_registration', 'retail'],
        ['Lead Generated', 'lead', 'retail'],
        ['Trial Started', 'start_trial', 'saas'],
        ['Subscription Started', 'subscribe', 'media'],
        ['Offer Viewed', 'view_content', 'travel'],
      ],
      (event, name) => ({ event: visit(event, { total: 5 }), requests: sent({ ...base, name }) }),
    ),
    {
      name: 'a batch',
      event: visit('Lead Generated'),
      batched: [visit('Signed Up')],
      requests: sent({ ...base, name: 'lead' }, { ...base, name: 'complete_registration' }),
    },
    { name: 'an event without a click', event: track('Lead Generated'), dropped: 'missing_required:click-id' },
    { name: 'a refund', event: visit('Order Refunded'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 204 }, verdict: { kind: 'delivered' } },
    { name: 'a bad action', events: [order], reply: { status: 400, body: 'bad' }, verdict: { kind: 'refused' } },
    { name: 'a bad action among several', events: [order, order], reply: { status: 400, body: '' }, verdict: ISOLATED },
    ...temporaryAnswers(order),
  ],
);
