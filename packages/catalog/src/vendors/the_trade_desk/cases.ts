import { ISOLATED, named, sentAs, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import {
  bare,
  CONTEXT,
  everything,
  identified,
  orderCompleted,
  pageViewed,
  productViewed,
  track,
  visitOf,
} from '../shared/sample-events.ts';
import ttd from './vendor.ts';

const url = 'https://insight.adsrvr.org/track/realtimeconversion';
const context = { ...CONTEXT, click_ids: { ttd_id: 'tdid-1' } };
const visit = visitOf(context);
const base = {
  adv: 'abc1234',
  tracker_id: 'tracker1',
  referrer_url: 'https://shop.example/checkout?x=1',
  client_ip: '203.0.113.7',
  adid: 'tdid-1',
  adid_type: 'TDID',
};
const order = orderCompleted({}, { context });
const sent = (...data: unknown[]) => [{ url, body: { data } }];

export default vendorCases(
  ttd,
  [
    {
      name: 'a purchase: amounts as texts, nothing personal',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: {
            data: [
              {
                ...base,
                event_name: 'purchase',
                value: '42.5',
                currency: 'EUR',
                order_id: 'o-1',
                items: [
                  { item_code: 'p-1', name: 'Tea', cat: 'Drinks', price: '10', qty: '2' },
                  { item_code: 'S2', name: 'Cup', price: '22.5', qty: '1' },
                ],
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a page view for URL mapping, which needs no event tracker',
      config: { tag_type: 'universal_pixel' },
      event: pageViewed({ context }),
      requests: sent({ ...base, tracker_id: undefined, upixel_id: 'pixel12', event_name: 'sitevisit' }),
    },
    {
      name: 'a page view for both tags, of a merchant, with limited data use',
      config: { upixel_id: 'pixel12', merchant_id: 'merchant1', limited_data_use: true },
      event: pageViewed({ context }),
      requests: sent({
        ...base,
        upixel_id: 'pixel12',
        merchant_id: 'merchant1',
        event_name: 'sitevisit',
        data_processing_option: { policies: ['LDU'] },
      }),
    },
    {
      name: 'a product viewed on iOS',
      event: productViewed({ traits: {}, context: { os: { name: 'iOS' }, device: { advertising_id: 'IDFA-1' }, ip: '203.0.113.7' } }),
      requests: sent({
        adv: 'abc1234',
        tracker_id: 'tracker1',
        client_ip: '203.0.113.7',
        adid: 'IDFA-1',
        adid_type: 'IDFA',
        event_name: 'viewitem',
        value: '10',
        currency: 'EUR',
        items: [{ item_code: 'p-1', name: 'Tea', cat: 'Drinks', price: '10', qty: '1' }],
      }),
    },
    ...(
      [
        ['AAID', { os: { name: 'Android' }, device: { advertising_id: 'x-1' } }],
        ['UID2', { vendor_ids: { uid2: 'x-1' } }],
        ['EUID', { vendor_ids: { euid: 'x-1' } }],
        ['IDL', { vendor_ids: { ramp_id: 'x-1' } }],
      ] as const
    ).map(([adid_type, with_id]) => ({
      name: `an advertising id of the type ${adid_type}`,
      event: track('Signed Up', {}, { traits: {}, context: with_id }),
      requests: sent({ adv: 'abc1234', tracker_id: 'tracker1', event_name: 'signup', adid: 'x-1', adid_type }),
    })),
    ...named(
      [
        ['Products Searched', 'searchitem', 'retail'],
        ['Product Added', 'addtocart', 'retail'],
        ['Cart Viewed', 'viewcart', 'retail'],
        ['Product Added to Wishlist', 'wishlistitem', 'retail'],
        ['Checkout Started', 'startcheckout', 'retail'],
        ['Lead Generated', 'lead', 'retail'],
        ['Offer Viewed', 'viewitem', 'travel'],
        ['Subscription Started', 'subscribe', 'media'],
        ['Trial Started', 'starttrial', 'saas'],
      ],
      (event, event_name) => ({ event: visit(event), requests: sent({ ...base, event_name }) }),
    ),
    {
      name: 'a batch',
      event: visit('Signed Up'),
      batched: [visit('Lead Generated')],
      requests: sent({ ...base, event_name: 'signup' }, { ...base, event_name: 'lead' }),
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:adid' },
    { name: 'a refund', event: track('Order Refunded'), dropped: 'mapping_filter' },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
    ...sentAs('data[0].event_name', { 'Signed In': 'login' }, (event) => ({ ...everything(event), context: order.context })),
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: {} }, verdict: { kind: 'delivered' } },
    { name: 'a bad event', events: [order], reply: { status: 400, body: 'bad adid_type' }, verdict: { kind: 'refused' } },
    {
      name: 'a bad event with a reason',
      events: [order],
      reply: {
        status: 400,
        body: {
          Message: null,
          EventResponses: [
            {
              EventIndex: 0,
              EventErrors: [{ Error: 'InvalidAdId', ErrorMessage: 'The ad id is invalid.' }],
              EventWarnings: [],
              Successful: false,
            },
          ],
        },
      },
      verdict: { kind: 'refused', reason: 'http_400: The ad id is invalid.' },
    },
    { name: 'a bad event among several', events: [order, order], reply: { status: 400, body: '' }, verdict: ISOLATED },
    {
      name: 'a pixel of another advertiser',
      events: [order, order],
      reply: { status: 402, body: { Message: 'Pixel not owned' } },
      verdict: { kind: 'refused', reason: 'http_402: Pixel not owned' },
    },
    ...temporaryAnswers(order),
  ],
);
