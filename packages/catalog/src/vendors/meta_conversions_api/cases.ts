import { lacking, named, sentAs, vendorCases } from '../shared/cases.ts';
import { bare, grouped, HASHED, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import meta from './vendor.ts';

const url = 'https://graph.facebook.com/v26.0/1234567890123456/events';
const web = {
  event_time: 1767323045,
  action_source: 'website',
  event_source_url: 'https://shop.example/checkout?x=1',
  referrer_url: 'https://www.example.org/',
};
const browser = {
  external_id: HASHED.user_id,
  client_ip_address: '203.0.113.7',
  client_user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  fbp: 'fb.1.1700000000000.42',
  fbc: 'fb.1.1767323045678.IwAR2F',
};
const user_data = {
  em: HASHED.email,
  ph: HASHED.phone_digits,
  fn: HASHED.first_name,
  ln: HASHED.last_name,
  ct: HASHED.city,
  st: HASHED.state,
  zp: HASHED.zip,
  country: HASHED.country,
  ...browser,
};
const order = orderCompleted();
const two = [order, orderCompleted({}, { event_id: 'evt-7' })];

export default vendorCases(
  meta,
  [
    {
      name: 'app: a locale with a hyphen',
      event: track(
        'Signed In',
        {},
        { context: { app: { namespace: 'com.shop' }, os: { name: 'iOS' }, locale: 'de-DE', ip: '203.0.113.7', user_agent: 'Shop' } },
      ),
      requests: [{ contains: { 'data[0].app_data.extinfo[6]': 'de_DE' } }],
    },
    {
      name: 'a product whose id, name and category are numbers: texts',
      event: track('Product Viewed', { product_id: 7, name: 1984, category: 12, price: '10', quantity: '2', currency: 'EUR' }),
      requests: [
        {
          contains: {
            'data[0].custom_data.content_ids': ['7'],
            'data[0].custom_data.contents': [{ id: '7', item_price: 10, quantity: 2 }],
            'data[0].custom_data.content_name': '1984',
            'data[0].custom_data.content_category': '12',
          },
        },
      ],
    },
    {
      name: 'blank fields: the sku takes the place of the id, the revenue that of the total, context.traits that of the traits',
      event: orderCompleted(
        {
          order_id: '',
          checkout_id: 'c-1',
          total: '',
          products: [
            { product_id: '', sku: 'S1', price: 5 },
            { product_id: '', name: 'Bag', price: 1 },
          ],
        },
        { traits: { email: '' }, context: { traits: { email: 'anna.berg@example.com' } } },
      ),
      requests: [
        {
          contains: {
            'data[0].user_data.em': HASHED.email,
            'data[0].custom_data.order_id': 'c-1',
            'data[0].custom_data.value': 35,
            'data[0].custom_data.content_ids': ['S1'],
            'data[0].custom_data.contents': [{ id: 'S1', quantity: 1, item_price: 5 }],
            'data[0].custom_data.num_items': 1,
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
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers: { Authorization: 'Bearer EAABsbCS1iHgBAexampletoken' },
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'Purchase',
                event_id: 'evt-1',
                ...web,
                user_data,
                custom_data: {
                  tax: 5,
                  shipping: 2.5,
                  coupon: 'TEA10',
                  order_id: 'o-1',
                  value: 42.5,
                  currency: 'EUR',
                  content_type: 'product',
                  content_ids: ['p-1', 'S2'],
                  contents: [
                    { id: 'p-1', quantity: 2, item_price: 10 },
                    { id: 'S2', quantity: 1, item_price: 22.5 },
                  ],
                  num_items: 3,
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'names are hashed without spaces and punctuation',
      variant: 'retail',
      event: track(
        'Signed In',
        {},
        {
          user_id: undefined as never,
          anonymous_id: undefined as never,
          context: {},
          traits: { first_name: 'Mary Ann', last_name: "O'Neil-Smith" },
        },
      ),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'Login',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'system_generated',
                user_data: {
                  fn: '16b3f07f0ec2f9dd127b71dc2e6c791b7d93116a1c3bc99d057eaa7a8a077e73', // maryann
                  ln: '825e66cf3a9a1ab140083fc38941c75ce6e41b49991e839f15b071b53dad639b', // oneilsmith
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a product, with a test event code',
      variant: 'retail',
      config: { test_event_code: 'TEST1', api_version: 'v25.0' },
      event: productViewed(),
      requests: [
        {
          url: 'https://graph.facebook.com/v25.0/1234567890123456/events',
          body: {
            test_event_code: 'TEST1',
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'ViewContent',
                event_id: 'evt-1',
                ...web,
                user_data,
                custom_data: {
                  content_ids: ['p-1'],
                  contents: [{ id: 'p-1', quantity: 1, item_price: 10 }],
                  content_name: 'Tea',
                  content_category: 'Drinks',
                  content_type: 'product',
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
      name: 'a page view of an unknown visitor: hashed values pass, the cookie of the click as it is',
      event: pageViewed({
        user_id: undefined as never,
        traits: { email: HASHED.email },
        context: {
          user_agent: 'UA',
          page: { url: 'https://shop.example/' },
          vendor_ids: { fbc: 'fb.1.5.abc' },
          click_ids: { fbclid: 'abc' },
        },
      }),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'PageView',
                event_id: 'evt-2',
                event_time: 1767323045,
                action_source: 'website',
                event_source_url: 'https://shop.example/',
                user_data: { em: HASHED.email, external_id: HASHED.anonymous_id, client_user_agent: 'UA', fbc: 'fb.1.5.abc' },
                custom_data: { content_name: 'Home' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'no page: an event of the system',
      variant: 'media',
      event: track('Subscription Started', { value: 9, currency: 'usd' }, { context: {}, traits: {} }),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'Subscribe',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'system_generated',
                user_data: { external_id: HASHED.user_id },
                custom_data: { value: 9, currency: 'USD' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a hotel',
      variant: 'travel',
      event: track('Hotel Viewed', { product_id: 'h-9', price: 120, currency: 'EUR', check_in: '2026-03-01', adults: '2' }, { traits: {} }),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'ViewContent',
                event_id: 'evt-1',
                ...web,
                user_data: browser,
                custom_data: {
                  check_in: '2026-03-01',
                  adults: '2',
                  content_ids: ['h-9'],
                  contents: [{ id: 'h-9', quantity: 1, item_price: 120 }],
                  content_type: 'hotel',
                  value: 120,
                  currency: 'EUR',
                  checkin_date: '2026-03-01',
                  num_adults: 2,
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a website event without a user agent',
      event: orderCompleted({}, { context: { page: { url: 'https://shop.example/' } } }),
      dropped: 'missing_required:user_data.client_user_agent',
    },
    {
      name: 'a product URL is not a page; an order without a total gets one from its products; limited data use',
      config: { limited_data_use: true },
      event: track(
        'Order Completed',
        { url: 'https://shop.example/p-1', currency: 'EUR', products: [{ product_id: 'p-1', price: 5, quantity: 2 }] },
        { traits: {}, context: {} },
      ),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'Purchase',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'system_generated',
                data_processing_options: ['LDU'],
                data_processing_options_country: 0,
                data_processing_options_state: 0,
                user_data: { external_id: HASHED.user_id },
                custom_data: {
                  value: 10,
                  currency: 'EUR',
                  content_type: 'product',
                  content_ids: ['p-1'],
                  contents: [{ id: 'p-1', quantity: 2, item_price: 5 }],
                  num_items: 2,
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'custom properties are passed through, without personal data and nested values; a configured action source',
      config: { action_source: 'phone_call' },
      event: track('Signed Up', { plan: 'pro', score: 3, phone: 'x', answers: { a: 1 } }, { traits: {}, context: {} }),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'CompleteRegistration',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'phone_call',
                user_data: { external_id: HASHED.user_id },
                custom_data: { plan: 'pro', score: 3, status: 'completed' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'click id: a remembered click keeps its own time; traits are completed from context.traits field by field',
      event: track(
        'Signed Up',
        {},
        {
          traits: { email: 'anna.berg@example.com' },
          context: {
            traits: { email: 'other@example.com', first_name: 'Anna' },
            click_ids: { fbclid: 'IwAR' },
            click_id_times: { fbclid: '2026-01-01T00:00:00.000Z' },
          },
        },
      ),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'CompleteRegistration',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'system_generated',
                user_data: { em: HASHED.email, fn: HASHED.first_name, external_id: HASHED.user_id, fbc: 'fb.1.1767225600000.IwAR' },
                custom_data: { status: 'completed' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'app: an app event with app_data',
      event: track(
        'Signed Up',
        {},
        {
          traits: {},
          context: {
            app: { namespace: 'com.shop', version: '2.1', build: '210' },
            os: { name: 'iOS', version: '18.1' },
            device: { model: 'iPhone15,2', advertising_id: 'AB-1', ad_tracking_enabled: true },
            locale: 'de_DE',
            screen: { width: 390, height: 844 },
          },
        },
      ),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'CompleteRegistration',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'app',
                user_data: { external_id: HASHED.user_id, madid: 'ab-1' },
                app_data: {
                  advertiser_tracking_enabled: 1,
                  application_tracking_enabled: 1,
                  extinfo: ['i2', 'com.shop', '210', '2.1', '18.1', 'iPhone15,2', 'de_DE', '', '', '390', '844', '', '', '', '', ''],
                },
                custom_data: { status: 'completed' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'app: an iOS device that denies tracking, a person who denies advertising',
      event: track(
        'Signed Up',
        {},
        {
          context: {
            app: { namespace: 'com.shop' },
            os: { name: 'iOS' },
            device: { id: 'IDFV-1', ad_tracking_enabled: false },
            consent: { canonical: { marketing: false } },
          },
        },
      ),
      requests: [
        {
          contains: {
            'data[0].app_data.advertiser_tracking_enabled': 0,
            'data[0].app_data.application_tracking_enabled': 0,
            'data[0].app_data.vendor_id': 'IDFV-1',
          },
        },
      ],
    },
    ...[
      { device: { advertising_id: 'AB-1' }, advertiser: 1 },
      { device: { advertising_id: '00000000-0000-0000-0000-000000000000' }, advertiser: 0 },
      { device: { advertising_id: 'AB-1', ad_tracking_enabled: false }, advertiser: 0 },
    ].map(({ device, advertiser }) => ({
      name: `app: an Android device ${JSON.stringify(device)}`,
      event: track('Signed Up', {}, { context: { app: { namespace: 'com.shop' }, os: { name: 'Android' }, device } }),
      requests: [
        {
          contains: {
            'data[0].app_data.advertiser_tracking_enabled': advertiser,
            'data[0].app_data.application_tracking_enabled': 1,
          },
        },
      ],
    })),
    {
      name: 'screen: a screen of an Android app is a ViewContent of the app',
      event: pageViewed({
        original_type: 'screen',
        name: 'Cart',
        properties: {},
        context: { app: { namespace: 'com.shop', version: '3' }, os: { name: 'Android', version: '15' } },
      }),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'ViewContent',
                event_id: 'evt-2',
                event_time: 1767323045,
                action_source: 'app',
                user_data: { external_id: HASHED.user_id },
                app_data: {
                  advertiser_tracking_enabled: 0,
                  application_tracking_enabled: 1,
                  extinfo: ['a2', 'com.shop', '3', '3', '15', '', '', '', '', '', '', '', '', '', '', ''],
                },
                custom_data: { content_name: 'Cart' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'cookie: a new click on the page wins over the _fbc of an older one',
      event: pageViewed({
        context: {
          user_agent: 'UA',
          page: { url: 'https://shop.example/?fbclid=IwAR2' },
          vendor_ids: { fbc: 'fb.1.1700000000001.IwAR1' },
          click_ids: { fbclid: 'IwAR2' },
          click_id_times: { fbclid: '2026-01-01T00:00:00.000Z' },
        },
      }),
      requests: [{ contains: { 'data[0].user_data.fbc': 'fb.1.1767225600000.IwAR2' } }],
    },
    {
      name: 'cookie: _fbp and _fbc as they are',
      event: track(
        'Lead Generated',
        {},
        { traits: {}, context: { vendor_ids: { fbp: 'fb.1.1700000000000.42', fbc: 'fb.1.1700000000001.IwAR' } } },
      ),
      requests: [
        {
          body: {
            partner_agent: 'firsthand',
            data: [
              {
                event_name: 'Lead',
                event_id: 'evt-1',
                event_time: 1767323045,
                action_source: 'system_generated',
                user_data: { external_id: HASHED.user_id, fbp: 'fb.1.1700000000000.42', fbc: 'fb.1.1700000000001.IwAR' },
              },
            ],
          },
        },
      ],
    },
    { name: 'a group is no conversion', event: grouped(), dropped: 'mapping_default' },
    { name: 'an event older than 7 days', event: orderCompleted(), now: '2026-01-09T03:04:06.000Z', dropped: 'event_too_old' },
    { name: 'a purchase without currency', event: orderCompleted({ currency: null }), dropped: 'missing_required:custom_data.currency' },
    {
      name: 'a purchase without value, whose products have no prices either',
      event: orderCompleted({ total: null, revenue: null, products: [{ product_id: 'p-1' }] }),
      dropped: 'missing_required:custom_data.value',
    },
    ...named(
      [
        ['Trial Started', 'StartTrial', 'saas'],
        ['Demo Requested', 'Schedule', 'saas'],
        ['Plan Changed', 'PlanChanged', 'saas'],
        ['Lead Generated', 'Lead', 'saas'],
      ],
      (name, event_name) => ({
        event: track(name, { value: 5, currency: 'eur' }, { traits: {} }),
        requests: [
          {
            url,
            body: {
              partner_agent: 'firsthand',
              data: [{ ...web, event_id: 'evt-1', event_name, user_data: browser, custom_data: { value: 5, currency: 'EUR' } }],
            },
          },
        ],
      }),
    ),
    {
      name: 'hashing: gender as a letter, birthday as digits',
      event: track('Signed Up', {}, { traits: { gender: 'Female', birthday: '1990-05-17' } }),
      requests: [
        {
          contains: {
            'data[0].user_data.ge': '252f10c83610ebca1a059c0bae8255eba2f95be4d1d7bcfa89d7248a82d9f111', // f
            'data[0].user_data.db': '7eaa6e2f3dca12acc11ad21625299f660e38a7510de1e12cf2013dd5274d2926', // 19900517
          },
        },
      ],
    },
    {
      name: 'a free trial has no value',
      variant: 'saas',
      event: track('Trial Started', {}, { traits: {} }),
      requests: [
        { url, body: { partner_agent: 'firsthand', data: [{ ...web, event_id: 'evt-1', event_name: 'StartTrial', user_data: browser }] } },
      ],
    },
    {
      name: 'a subscription without a value',
      variant: 'media',
      event: track('Subscription Started', { order_id: 's-1' }, { traits: {} }),
      requests: [
        {
          url,
          body: {
            partner_agent: 'firsthand',
            data: [{ ...web, event_id: 'evt-1', event_name: 'Subscribe', user_data: browser, custom_data: { order_id: 's-1' } }],
          },
        },
      ],
    },
    {
      name: 'an app event with nothing but the advertising id of the device',
      event: {
        ...bare('Signed In'),
        context: { os: { name: 'Android' }, device: { advertising_id: '38400000-8CF0-11BD-B23E-10B96E40000D' } },
      },
      requests: [{ contains: { 'data[0].user_data': { madid: '38400000-8cf0-11bd-b23e-10b96e40000d' } } }],
    },
    ...lacking(
      { event_source_url: track('Signed Up', {}, { context: { user_agent: 'Mozilla/5.0' } }) },
      { config: { action_source: 'website' } },
    ),
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:user_data.em' },
    { name: 'other events', event: track('Custom'), dropped: 'mapping_default' },
    { name: 'identify', event: identified(), dropped: 'mapping_default' },
    ...sentAs('data[0].event_name', {
      'Products Searched': 'Search',
      'Product Added': 'AddToCart',
      'Product Added to Wishlist': 'AddToWishlist',
      'Checkout Started': 'InitiateCheckout',
      'Payment Info Entered': 'AddPaymentInfo',
      'Product Removed': 'RemoveFromCart',
      'Cart Viewed': 'ViewCart',
      'Product Removed from Wishlist': 'RemoveFromWishlist',
      'Video Playback Started': 'VideoStarted',
      'Video Playback Completed': 'VideoCompleted',
    }),
  ],
  [
    { name: 'received', events: [order], reply: { status: 200, body: { events_received: 1 } }, verdict: { kind: 'delivered' } },
    {
      name: 'temporarily unavailable comes as 400',
      events: [order],
      reply: { status: 400, body: { error: { code: 2, message: 'Service temporarily unavailable' } } },
      verdict: { kind: 'unavailable', reason: 'http_400: Service temporarily unavailable' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 400, body: { error: { code: 80004, message: 'too many' } } },
      verdict: { kind: 'unavailable' },
    },
    {
      name: 'an error that Meta calls transient',
      events: [order],
      reply: { status: 400, body: { error: { code: 9, is_transient: true, message: 'try again' } } },
      verdict: { kind: 'unavailable', reason: 'http_400: try again' },
    },
    {
      name: 'a bad token, which must not be repeated in the reason',
      events: two,
      reply: { status: 400, body: { error: { code: 190, message: 'Malformed access token EAABsbCS1iHgBAexampletoken' } } },
      verdict: { kind: 'refused', reason: 'http_400: Malformed access token ••••oken' },
    },
    {
      name: 'one of several events is bad',
      events: two,
      reply: { status: 400, body: { error: { code: 100, error_subcode: 2804003 } } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    { name: 'the one event is bad', events: [order], reply: { status: 400, body: { error: { code: 100 } } }, verdict: { kind: 'refused' } },
    { name: 'an HTML page of a gateway', events: [order], reply: { status: 502, body: '<html>' }, verdict: { kind: 'unavailable' } },
    {
      name: 'an HTML page with a status that would refuse',
      events: two,
      reply: { status: 400, body: '\n<!DOCTYPE html><html>' },
      verdict: { kind: 'unavailable' },
    },
    { name: 'a text that is no page', events: [order], reply: { status: 400, body: 'no' }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [orderCompleted()], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
  ],
);
