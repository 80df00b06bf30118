import { sentAs, vendorCases } from '../shared/cases.ts';
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
import pinterest from './vendor.ts';

const url = 'https://api.pinterest.com/v5/ad_accounts/549755885175/events';
const context = { ...CONTEXT, click_ids: { epik: 'dj0yJnU9' }, vendor_ids: {} };
const browser = {
  external_id: [HASHED.user_id],
  client_ip_address: '203.0.113.7',
  client_user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  click_id: 'dj0yJnU9',
};
const web = {
  event_id: 'evt-1',
  event_time: 1767323045,
  action_source: 'web',
  event_source_url: 'https://shop.example/checkout?x=1',
  language: 'de',
};
const order = orderCompleted({}, { context });
const sent = (event: unknown) => [{ url, body: { data: [event] } }];
const visit = (name: string, properties = {}) => track(name, properties, { traits: {}, context });

export default vendorCases(
  pinterest,
  [
    {
      name: 'products whose names, brands and categories are numbers: texts',
      event: orderCompleted({ products: [{ product_id: 7, name: 1984, brand: 4711, category: 12, price: 10, quantity: '2' }] }),
      requests: [
        {
          contains: {
            'data[0].custom_data.content_ids': ['7'],
            'data[0].custom_data.contents': [
              { id: '7', item_name: '1984', item_brand: '4711', item_category: '12', item_price: '10', quantity: 2 },
            ],
          },
        },
      ],
    },
    {
      name: 'a product without an id is neither sent nor counted',
      event: orderCompleted({ products: [{ product_id: 'p-1', quantity: 2 }, { name: 'Bag', quantity: 5 }, 'broken'] }),
      requests: [{ contains: { 'data[0].custom_data.num_items': 2, 'data[0].custom_data.content_ids': ['p-1'] } }],
    },
    {
      name: 'a purchase is a checkout',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer pina_AEXAMPLETOKEN0123456789' },
          body: {
            data: [
              {
                ...web,
                event_name: 'checkout',
                user_data: { ...HASHED_LISTS, ...browser },
                custom_data: {
                  currency: 'EUR',
                  value: '42.5',
                  content_ids: ['p-1', 'S2'],
                  contents: [
                    { id: 'p-1', item_name: 'Tea', item_brand: 'Leaf', item_category: 'Drinks', item_price: '10', quantity: 2 },
                    { id: 'S2', item_name: 'Cup', item_price: '22.5', quantity: 1 },
                  ],
                  num_items: 3,
                  order_id: 'o-1',
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a product viewed, in test mode with limited data processing',
      config: { test_mode: true, limited_data_processing: true },
      event: productViewed({
        traits: { gender: 'F', birthday: '1990-03-07' },
        context: { ...context, consent: { canonical: { advertising: false } } },
      }),
      requests: [
        {
          url: `${url}?test=true`,
          body: {
            data: [
              {
                ...web,
                event_name: 'view_content',
                opt_out: true,
                user_data: {
                  ge: ['252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111'], // f
                  db: ['c3d027251d4c401cac8a836c65ef60d7bd316d022db7a35f61410a5c51245068'], // 19900307
                  ...browser,
                },
                custom_data: {
                  opt_out_type: 'LDP',
                  contents: [{ id: 'p-1', item_name: 'Tea', item_category: 'Drinks', item_price: '10', quantity: 1 }],
                  content_ids: ['p-1'],
                  content_name: 'Tea',
                  content_category: 'Drinks',
                  value: '10',
                  currency: 'EUR',
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a page visit',
      event: pageViewed({ context }),
      requests: sent({ ...web, event_id: 'evt-2', event_name: 'page_visit', user_data: browser, custom_data: { content_name: 'Home' } }),
    },
    {
      name: 'an app event with its device',
      event: track(
        'Application Installed',
        {},
        {
          traits: {},
          context: {
            app: { namespace: 'com.shop', name: 'Shop', version: '7.9' },
            os: { name: 'iOS', version: '12.1.4' },
            device: { advertising_id: 'AB-CD', manufacturer: 'Apple', model: 'iPhone X', type: 'iPhone' },
            network: { carrier: 'T-Mobile', wifi: false },
            locale: 'en-US',
          },
        },
      ),
      requests: sent({
        event_id: 'evt-1',
        event_time: 1767323045,
        action_source: 'app_ios',
        event_name: 'app_install',
        language: 'en',
        app_name: 'Shop',
        app_version: '7.9',
        device_brand: 'Apple',
        device_model: 'iPhone X',
        device_type: 'iPhone',
        device_carrier: 'T-Mobile',
        wifi: false,
        os_version: '12.1.4',
        user_data: {
          external_id: [HASHED.user_id],
          hashed_maids: ['5db3d84c79b48df5adbc40077543c90ac686162b35624c0c15ce710c80c32b3f'],
        },
      }),
    },
    ...[
      { tracking: false, marketing: true, opt_out: true },
      { tracking: true, marketing: true, opt_out: false },
      { tracking: true, marketing: false, opt_out: true },
    ].map(({ tracking, marketing, opt_out }) => ({
      name: `an app event, ad tracking ${tracking ? 'allowed' : 'limited'}, advertising ${marketing ? 'granted' : 'denied'}`,
      event: track(
        'Application Opened',
        {},
        {
          context: {
            app: { namespace: 'com.shop' },
            os: { name: 'iOS' },
            device: { adTrackingEnabled: tracking },
            consent: { canonical: { marketing } },
          },
        },
      ),
      requests: [{ contains: { 'data[0].action_source': 'app_ios', 'data[0].opt_out': opt_out } }],
    })),
    {
      name: 'a search',
      variant: 'media',
      event: visit('Content Searched', { query: 'tea' }),
      requests: sent({ ...web, event_name: 'search', user_data: browser, custom_data: { search_string: 'tea' } }),
    },
    {
      name: 'a category viewed',
      variant: 'retail',
      event: visit('Product List Viewed', { category: 'Drinks', list_name: 'New', products: [{ sku: 'S2' }] }),
      requests: sent({
        ...web,
        event_name: 'view_category',
        user_data: browser,
        custom_data: {
          content_name: 'New',
          content_category: 'Drinks',
          contents: [{ id: 'S2', quantity: 1 }],
          content_ids: ['S2'],
          num_items: 1,
        },
      }),
    },
    ...(
      [
        ['Product Added', 'add_to_cart'],
        ['Product Added to Wishlist', 'add_to_wishlist'],
      ] as const
    ).map(([name, event_name]) => ({
      name: `${name} is ${event_name}`,
      variant: 'retail',
      event: visit(name, { product_id: 'p-1', price: '10.00', quantity: 2, currency: 'USD' }),
      requests: sent({
        ...web,
        event_name,
        user_data: browser,
        custom_data: {
          contents: [{ id: 'p-1', item_price: '10', quantity: 2 }],
          content_ids: ['p-1'],
          value: '20',
          currency: 'USD',
        },
      }),
    })),
    ...(
      [
        ['Checkout Started', 'initiate_checkout', 'retail'],
        ['Payment Info Entered', 'add_payment_info', 'retail'],
        ['Signed Up', 'signup', 'retail'],
        ['Lead Generated', 'lead', 'retail'],
        ['Subscription Started', 'subscribe', 'media'],
        ['Video Content Started', 'watch_video', 'media'],
        ['Demo Requested', 'lead', 'saas'],
      ] as const
    ).map(([name, event_name, variant]) => ({
      name: `${name} is ${event_name}`,
      variant,
      event: visit(name),
      requests: sent({ ...web, event_name, user_data: browser }),
    })),
    {
      name: 'an order from a till is offline',
      event: orderCompleted({ products: undefined } as never, { context: {}, traits: { email: 'anna.berg@example.com' } }),
      requests: sent({
        event_id: 'evt-1',
        event_time: 1767323045,
        action_source: 'offline',
        event_name: 'checkout',
        user_data: { em: [HASHED.email], external_id: [HASHED.user_id] },
        custom_data: { order_id: 'o-1', value: '42.5', currency: 'EUR' },
      }),
    },
    {
      name: 'a batch',
      event: visit('Signed Up'),
      batched: [visit('Lead Generated')],
      requests: [
        {
          url,
          body: {
            data: [
              { ...web, event_name: 'signup', user_data: browser },
              { ...web, event_name: 'lead', user_data: browser },
            ],
          },
        },
      ],
    },
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:user_data.em' },
    {
      name: 'an IP address without a user agent matches nobody',
      event: track('Signed Up', {}, { traits: {}, context: { ip: '203.0.113.7' } }),
      dropped: 'missing_required:user_data.em',
    },
    { name: 'an identify', event: identified(), dropped: 'mapping_default' },
    { name: 'a removed product has no name at Pinterest', event: track('Product Removed'), dropped: 'mapping_filter' },
    ...sentAs('data[0].event_name', { 'Trial Started': 'start_trial' }),
    ...sentAs('data[0].event_name', { 'Application Opened': 'app_open' }, (event) => ({
      ...everything(event),
      context: {
        ...CONTEXT,
        app: { namespace: 'com.shop', version: '2.1' },
        os: { name: 'Android', version: '14' },
        device: { id: 'android-1', advertising_id: 'gaid-1', type: 'android' },
      },
    })),
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: {
        status: 200,
        body: { num_events_received: 1, num_events_processed: 1, events: [{ status: 'processed', error_message: null }] },
      },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one of two failed',
      events: [order, order],
      reply: {
        status: 200,
        body: {
          num_events_received: 2,
          num_events_processed: 1,
          events: [{ status: 'processed' }, { status: 'failed', error_message: 'event_time is too old' }],
        },
      },
      verdict: { kind: 'partial' },
    },
    {
      name: 'the only one failed',
      events: [order],
      reply: { status: 422, body: { events: [{ status: 'failed', error_message: 'bad event_name' }] } },
      verdict: { kind: 'partial', items: [{ kind: 'refused', reason: 'http_422: bad event_name' }] } as never,
    },
    {
      name: 'a malformed request among several',
      events: [order, order],
      reply: { status: 400, body: { code: 1, message: 'Invalid request' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'an expired token',
      events: [order, order],
      reply: { status: 401, body: { code: 2, message: 'Authentication failed.' } },
      verdict: { kind: 'refused', reason: 'http_401: Authentication failed.' },
    },
    { name: 'throttled', events: [order], reply: { status: 429, body: { code: 8 } }, verdict: { kind: 'unavailable' } },
    { name: 'ramped down', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
    { name: 'timed out', events: [order], reply: { status: 408 }, verdict: { kind: 'unavailable' } },
  ],
);
