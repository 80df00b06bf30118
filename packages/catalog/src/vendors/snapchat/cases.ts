import { ISOLATED, sentAs, vendorCases } from '../shared/cases.ts';
import {
  bare,
  CONTEXT,
  everything,
  HASHED,
  HASHED_LISTS,
  identified,
  orderCompleted,
  pageViewed,
  productViewed,
  track,
} from '../shared/sample-events.ts';
import snapchat from './vendor.ts';

const url = 'https://tr.snapchat.com/v3/8f2c1a30-1111-4222-8333-abcdefabcdef/events?access_token=eyJhbGciOiJIUzI1NiJ9.example.token';
const context = { ...CONTEXT, click_ids: { ScCid: 'c-1' }, vendor_ids: { scid: 's-1' } };
const browser = {
  external_id: [HASHED.user_id],
  client_ip_address: '203.0.113.7',
  client_user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  sc_click_id: 'c-1',
  sc_cookie1: 's-1',
};
const web = {
  event_id: 'evt-1',
  event_time: 1767323045,
  action_source: 'WEB',
  event_source_url: 'https://shop.example/checkout?x=1',
};
const order = orderCompleted({}, { context });
const sent = (event: unknown) => [{ body: { data: [event] } }];
/** A track event of a browser whose user is not known. */
const visit = (name: string, properties = {}) => track(name, properties, { traits: {}, context });

export default vendorCases(
  snapchat,
  [
    {
      name: 'app: a locale with a hyphen',
      config: { app_id: '0a1b2c3d-4444-4555-8666-abcdefabcdef' },
      event: track(
        'Signed In',
        {},
        { context: { app: { namespace: 'com.shop' }, os: { name: 'iOS' }, locale: 'de-DE', ip: '203.0.113.7', user_agent: 'Shop' } },
      ),
      requests: [{ contains: { 'data[0].app_data.extinfo[6]': 'de_DE' } }],
    },
    {
      name: 'an app event goes to the Snap app, with its device',
      config: { app_id: '0a1b2c3d-4444-4555-8666-abcdefabcdef' },
      event: track(
        'Signed Up',
        { method: 'email' },
        {
          traits: { gender: 'Female' },
          context: {
            app: { namespace: 'com.some.app', version: '7.7.1', build: '771' },
            os: { name: 'iOS', version: '17.1' },
            device: { id: 'IDFV-1', model: 'iPhone12', advertising_id: 'AB-CD', ad_tracking_enabled: true },
            locale: 'en_US',
            network: { carrier: 'TMobile' },
            screen: { width: 1920, height: 1080, density: 2 },
            timezone: 'America/New_York',
          },
        },
      ),
      requests: [
        {
          url: url.replace('8f2c1a30-1111-4222-8333-abcdefabcdef', '0a1b2c3d-4444-4555-8666-abcdefabcdef'),
          body: {
            data: [
              {
                event_name: 'SIGN_UP',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'MOBILE_APP',
                user_data: {
                  external_id: [HASHED.user_id],
                  ge: ['252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111'], // f
                  madid: 'ab-cd',
                  idfv: 'IDFV-1',
                },
                app_data: {
                  advertiser_tracking_enabled: 1,
                  extinfo: [
                    ...['i2', 'com.some.app', '771', '7.7.1', '17.1', 'iPhone12', 'en_US', '', 'TMobile'],
                    ...['1920', '1080', '2', '', '', '', 'America/New_York'],
                  ],
                },
                custom_data: { sign_up_method: 'email' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'an Android device whose user did not opt out',
      config: { app_id: '0a1b2c3d-4444-4555-8666-abcdefabcdef' },
      event: track(
        'Signed Up',
        {},
        { context: { app: { namespace: 'com.shop' }, os: { name: 'Android' }, device: { advertising_id: 'AB-1' } } },
      ),
      requests: [{ contains: { 'data[0].app_data.advertiser_tracking_enabled': 1, 'data[0].user_data.madid': 'ab-1' } }],
    },
    {
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: {
            data: [
              {
                ...web,
                event_name: 'PURCHASE',
                user_data: { ...HASHED_LISTS, ...browser },
                custom_data: {
                  contents: [
                    { id: 'p-1', brand: 'Leaf', item_price: '10', quantity: '2' },
                    { id: 'S2', item_price: '22.5', quantity: '1' },
                  ],
                  content_ids: ['p-1', 'S2'],
                  num_items: 3,
                  value: 42.5,
                  currency: 'EUR',
                  order_id: 'o-1',
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a product viewed, in test mode and with limited data use',
      config: { test_mode: true, limited_data_use: true },
      event: productViewed({ traits: {}, context }),
      requests: [
        {
          url: url.replace('/events?', '/events/validate?'),
          body: {
            data: [
              {
                ...web,
                event_name: 'VIEW_CONTENT',
                data_processing_options: ['LMU'],
                user_data: browser,
                custom_data: {
                  contents: [{ id: 'p-1', item_price: '10', quantity: '1' }],
                  content_ids: ['p-1'],
                  content_category: 'Drinks',
                  value: 10,
                  currency: 'EUR',
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'the examples of Snap’s page Parameters',
      event: pageViewed({
        traits: { email: 'Person@Example.com ', phone: '+44 844 412 4653', first_name: 'Raphaël' },
        context,
      }),
      requests: [
        {
          contains: {
            'data[0].user_data.em[0]': '542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345',
            'data[0].user_data.ph[0]': 'dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383',
            'data[0].user_data.fn[0]': 'e74bb89e718fe1e19c422a48382870399f8bf7ca8dfa008739e75b0be76627b7',
          },
        },
      ],
    },
    {
      name: 'a page view',
      event: pageViewed({ context }),
      requests: sent({ ...web, event_id: 'evt-2', event_name: 'PAGE_VIEW', user_data: browser }),
    },
    {
      name: 'a search',
      variant: 'retail',
      event: visit('Products Searched', { query: 'tea' }),
      requests: sent({ ...web, event_name: 'SEARCH', user_data: browser, custom_data: { search_string: 'tea' } }),
    },
    {
      name: 'a list of products',
      variant: 'retail',
      event: visit('Product List Viewed', { category: 'Drinks', products: [{ product_id: 'p-1' }] }),
      requests: sent({
        ...web,
        event_name: 'LIST_VIEW',
        user_data: browser,
        custom_data: { content_category: 'Drinks', contents: [{ id: 'p-1', quantity: '1' }], content_ids: ['p-1'], num_items: 1 },
      }),
    },
    ...(
      [
        ['Product Added', 'ADD_CART'],
        ['Product Added to Wishlist', 'ADD_TO_WISHLIST'],
        ['Product Shared', 'SHARE'],
        ['Product Reviewed', 'RATE'],
      ] as const
    ).map(([name, event_name]) => ({
      name: `${name} is ${event_name}`,
      variant: 'retail',
      event: visit(name, { product_id: 'p-1', price: 10, quantity: 2, currency: 'USD' }),
      requests: sent({
        ...web,
        event_name,
        user_data: browser,
        custom_data: { contents: [{ id: 'p-1', item_price: '10', quantity: '2' }], content_ids: ['p-1'], value: 20, currency: 'USD' },
      }),
    })),
    ...(
      [
        ['Checkout Started', 'START_CHECKOUT'],
        ['Payment Info Entered', 'ADD_BILLING'],
      ] as const
    ).map(([name, event_name]) => ({
      name: `${name} is ${event_name}`,
      variant: 'retail',
      event: visit(name, { checkout_id: 'k-1', value: 5, currency: 'USD' }),
      requests: sent({
        ...web,
        event_name,
        user_data: browser,
        custom_data: { order_id: 'k-1', value: 5, currency: 'USD' },
      }),
    })),
    ...(
      [
        ['Signed In', 'LOGIN', 'retail'],
        ['Trial Started', 'START_TRIAL', 'saas'],
        ['Invite Sent', 'INVITE', 'saas'],
        ['Onboarding Completed', 'COMPLETE_TUTORIAL', 'saas'],
        ['Subscription Started', 'SUBSCRIBE', 'media'],
        ['Article Viewed', 'VIEW_CONTENT', 'media'],
      ] as const
    ).map(([name, event_name, variant]) => ({
      name: `${name} is ${event_name}`,
      variant,
      event: visit(name),
      requests: sent({ ...web, event_name, user_data: browser }),
    })),
    {
      name: 'a hotel search, as travel ads read it',
      variant: 'travel',
      event: visit('Hotel Searched', { destination: 'LIS', check_in: '2026-03-01', adults: 2 }),
      requests: sent({
        ...web,
        event_name: 'SEARCH',
        user_data: browser,
        custom_data: { search_string: 'LIS', checkin_date: '2026-03-01', destination_airport: 'LIS', num_adults: 2 },
      }),
    },
    {
      name: 'a renewal without a page is an offline event',
      event: track('Subscription Started', { value: 9, currency: 'usd' }, { context: {}, traits: { email: 'anna.berg@example.com' } }),
      requests: sent({
        event_id: 'evt-1',
        event_time: 1767323045,
        action_source: 'OFFLINE',
        event_name: 'SUBSCRIBE',
        user_data: { em: [HASHED.email], external_id: [HASHED.user_id] },
        custom_data: { value: 9, currency: 'USD' },
      }),
    },
    {
      name: 'two events in one request',
      event: pageViewed({ context }),
      batched: [visit('Signed In')],
      requests: [
        {
          url,
          body: {
            data: [
              { ...web, event_id: 'evt-2', event_name: 'PAGE_VIEW', user_data: browser },
              { ...web, event_name: 'LOGIN', user_data: browser },
            ],
          },
        },
      ],
    },
    { name: 'a purchase without a currency', event: orderCompleted({ currency: '€' }), dropped: 'missing_required:custom_data.currency' },
    {
      name: 'a purchase without a value',
      event: track('Order Completed', { currency: 'EUR' }),
      dropped: 'missing_required:custom_data.value',
    },
    {
      name: 'an app event without a Snap app',
      event: track('Signed Up', {}, { context: { app: { namespace: 'com.some.app' } } }),
      dropped: 'missing_required:asset_id',
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:user_data.em' },
    {
      name: 'an IP address without a user agent matches nobody',
      event: track('Signed Up', {}, { traits: {}, context: { ip: '203.0.113.7' } }),
      dropped: 'missing_required:user_data.em',
    },
    { name: 'an event of 38 days', event: order, now: '2026-02-09T03:04:06Z', dropped: 'event_too_old' },
    { name: 'an identify says nothing about a conversion', event: identified(), dropped: 'mapping_default' },
    { name: 'a refund has no name at Snap', event: track('Order Refunded'), dropped: 'mapping_filter' },
    ...sentAs(
      'data[0].event_name',
      { 'Application Installed': 'APP_INSTALL', 'Application Opened': 'APP_OPEN' },
      (event) => ({
        ...everything(event),
        context: {
          ...CONTEXT,
          app: { namespace: 'com.shop', version: '2.1' },
          os: { name: 'Android', version: '14' },
          device: { id: 'android-1', advertising_id: 'gaid-1', type: 'android' },
        },
      }),
      { config: { app_id: '0a1b2c3d-4444-4555-8666-abcdefabcdef' } },
    ),
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: { status: 200, body: { status: 'VALID', reason: 'Events have been processed successfully.' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a bad event',
      events: [order],
      reply: { status: 400, body: { status: 'INVALID', errors: { error_msgs: ['event_time is missing'] } } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'a bad event among several is sent alone',
      events: [order, order],
      reply: { status: 200, body: { status: 'INVALID', event: 1 } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'an expired token',
      events: [order, order],
      reply: { status: 401, body: { status: 'INVALID', reason: 'Unauthorized' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'a request that cannot be read, of several events',
      events: [order, order],
      reply: { status: 400, body: { reason: 'Malformed JSON' } },
      verdict: ISOLATED,
    },
    { name: 'throttled', events: [order], reply: { status: 429, headers: { 'retry-after': '5' } }, verdict: { kind: 'unavailable' } },
    { name: 'down', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
    { name: 'timed out', events: [order], reply: { status: 408 }, verdict: { kind: 'unavailable' } },
  ],
);
