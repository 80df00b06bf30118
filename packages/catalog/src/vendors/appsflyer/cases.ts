import { named, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, track } from '../shared/sample-events.ts';
import appsflyer from './vendor.ts';

const url = 'https://api3.appsflyer.com/inappevent/com.example.shop';
const android = {
  app: { namespace: 'com.example.shop', version: '2.1' },
  os: { name: 'Android', version: '14' },
  device: { id: 'd-1', advertising_id: 'gaid-1' },
  ip: '203.0.113.7',
  vendor_ids: { appsflyer_id: '1415211453000-6513894' },
};
const base = {
  appsflyer_id: '1415211453000-6513894',
  customer_user_id: 'user-1',
  eventTime: '2026-01-02 03:04:05.678',
  ip: '203.0.113.7',
  app_version_name: '2.1',
  bundleIdentifier: 'com.example.shop',
  os: '14',
  advertising_id: 'gaid-1',
};
const order = orderCompleted({}, { context: android });
const app = (name: string, properties = {}) => track(name, properties, { context: android });

export default vendorCases(
  appsflyer,
  [
    {
      name: 'a purchase on Android: the value is JSON text, and only it has revenue',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { authentication: 'eyJhbGciOiJBMjU2S1ciLCJlbmMi.example' },
          body: {
            ...base,
            eventName: 'af_purchase',
            eventCurrency: 'EUR',
            eventValue: '{"af_order_id":"o-1","af_content_id":["p-1","S2"],"af_quantity":3,"af_revenue":42.5,"af_currency":"EUR"}',
          },
        },
      ],
    },
    {
      name: 'a user in the EEA, with consent',
      config: { eea: true },
      event: track('Signed In', {}, { context: { ...android, consent: { canonical: { marketing: true } } } }),
      requests: [
        {
          body: {
            ...base,
            consent_data: { manual: { gdpr_applies: true, ad_user_data_enabled: true, ad_personalization_enabled: true } },
            eventName: 'af_login',
            eventValue: '',
          },
        },
      ],
    },
    {
      name: 'a user in the EEA whose consent is unknown',
      config: { eea: true },
      event: app('Signed In'),
      requests: [
        {
          body: {
            ...base,
            consent_data: { manual: { gdpr_applies: true, ad_user_data_enabled: false, ad_personalization_enabled: false } },
            eventName: 'af_login',
            eventValue: '',
          },
        },
      ],
    },
    {
      name: 'an iOS app of its own',
      config: { ios_app_id: 'id123456789' },
      event: track('Signed In', {}, { context: { ...android, os: { name: 'iOS', version: '17' } } }),
      requests: [
        {
          url: 'https://api3.appsflyer.com/inappevent/id123456789',
          body: {
            appsflyer_id: '1415211453000-6513894',
            customer_user_id: 'user-1',
            eventTime: '2026-01-02 03:04:05.678',
            ip: '203.0.113.7',
            app_version_name: '2.1',
            bundleIdentifier: 'com.example.shop',
            os: '17',
            idfa: 'GAID-1',
            idfv: 'D-1',
            eventName: 'af_login',
            eventValue: '',
          },
        },
      ],
    },
    {
      name: 'a refund is negative revenue',
      event: app('Order Refunded', { order_id: 'o-1', total: 10, currency: 'EUR' }),
      requests: [
        {
          url,
          body: {
            ...base,
            eventName: 'Order Refunded',
            eventCurrency: 'EUR',
            eventValue: '{"af_order_id":"o-1","af_revenue":-10,"af_currency":"EUR"}',
          },
        },
      ],
    },
    {
      name: 'a refund that the shop writes with a minus',
      event: app('Order Refunded', { order_id: 'o-1', total: '-10', currency: 'EUR' }),
      requests: [{ contains: { eventValue: '{"af_order_id":"o-1","af_revenue":-10,"af_currency":"EUR"}' } }],
    },
    {
      name: 'a refund of products without a total',
      event: app('Order Refunded', { order_id: 'o-1', currency: 'EUR', products: [{ product_id: 7, price: '2.50', quantity: '2' }] }),
      requests: [
        { contains: { eventValue: '{"af_order_id":"o-1","af_content_id":["7"],"af_quantity":2,"af_revenue":-5,"af_currency":"EUR"}' } },
      ],
    },
    {
      name: 'a product whose name and category are numbers: texts',
      event: app('Product Viewed', { product_id: 7, name: 1984, category: 12, price: '10' }),
      requests: [{ contains: { eventValue: '{"af_content_id":"7","af_content":"1984","af_content_type":"12","af_price":10}' } }],
    },
    {
      name: 'an IPv6 address is left out',
      event: track('Signed In', {}, { context: { ...android, ip: '2001:db8::1' } }),
      requests: [{ contains: { ip: undefined, eventName: 'af_login' } }],
    },
    ...named(
      [
        ['Product Viewed', 'af_content_view', 'retail'],
        ['Product Added', 'af_add_to_cart', 'retail'],
        ['Product Removed', 'remove_from_cart', 'retail'],
        ['Product Added to Wishlist', 'af_add_to_wishlist', 'retail'],
        ['Product Reviewed', 'af_rate', 'retail'],
        ['Product Shared', 'af_share', 'retail'],
        ['Offer Viewed', 'af_content_view', 'travel'],
      ],
      (event, eventName) => ({
        event: app(event, { product_id: 'p-1', name: 'Tea', category: 'Drinks', price: 10, quantity: 2, currency: 'EUR' }),
        requests: [
          {
            url,
            body: {
              ...base,
              eventName,
              eventCurrency: 'EUR',
              eventValue:
                '{"af_content_id":"p-1","af_content":"Tea","af_content_type":"Drinks","af_quantity":2,"af_price":10,"af_currency":"EUR"}',
            },
          },
        ],
      }),
    ),
    ...named(
      [
        ['Checkout Started', 'af_initiated_checkout', 'retail'],
        ['Payment Info Entered', 'af_add_payment_info', 'retail'],
        ['Trial Started', 'af_start_trial', 'saas'],
      ],
      (event, eventName) => ({
        event: app(event, { value: 5, currency: 'USD' }),
        requests: [{ url, body: { ...base, eventName, eventCurrency: 'USD', eventValue: '{"af_price":5,"af_currency":"USD"}' } }],
      }),
    ),
    ...named([['Subscription Started', 'af_subscribe', 'media']], (event, eventName) => ({
      event: app(event, { value: 5, currency: 'USD' }),
      requests: [{ url, body: { ...base, eventName, eventCurrency: 'USD', eventValue: '{"af_revenue":5,"af_currency":"USD"}' } }],
    })),
    ...named(
      [
        ['Products Searched', 'af_search', 'retail'],
        ['Hotel Searched', 'af_search', 'travel'],
      ],
      (event, eventName) => ({
        event: app(event, { query: 'tea' }),
        requests: [{ url, body: { ...base, eventName, eventValue: '{"af_search_string":"tea"}' } }],
      }),
    ),
    ...named(
      [
        ['Signed Up', 'af_complete_registration', 'retail'],
        ['Product List Viewed', 'af_list_view', 'retail'],
        ['Invite Sent', 'af_invite', 'saas'],
        ['Onboarding Completed', 'af_tutorial_completion', 'saas'],
        ['Coupon Applied', 'Coupon Applied', 'retail'],
        ['Something Else', 'Something Else'],
      ],
      (event, eventName) => ({ event: app(event), requests: [{ url, body: { ...base, eventName, eventValue: '' } }] }),
    ),
    {
      name: 'a screen',
      event: track('', {}, { type: 'page', original_type: 'screen', name: 'Cart', context: android }),
      requests: [{ url, body: { ...base, eventName: 'screen_view', eventValue: '{"screen_name":"Cart"}' } }],
    },
    { name: 'a device that AppsFlyer does not know', event: bare('Order Completed'), dropped: 'missing_required:appsflyer_id' },
    { name: 'an identify is no event', event: identified({ context: android }), dropped: 'mapping_filter' },
    { name: 'a group is no event', event: grouped({ context: android }), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: 'ok' }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400, body: 'Bad Request' }, verdict: { kind: 'refused' } },
    { name: 'a bad token', events: [order], reply: { status: 401, body: '' }, verdict: { kind: 'refused' } },
    ...temporaryAnswers(order),
  ],
);
