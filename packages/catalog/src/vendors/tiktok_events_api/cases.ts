import { lacking, named, sentAs, vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, everything, grouped, HASHED, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import tiktok from './vendor.ts';

const head = { event_source: 'web', event_source_id: 'C4ABCDEFGHIJKLMNOPQ0', partner_name: 'Firsthand' };
const device = {
  external_id: HASHED.user_id,
  ttclid: 'E.C.P',
  ttp: 'ttp-1',
  ip: '203.0.113.7',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
  locale: 'de-DE',
};
const user = {
  email: HASHED.email,
  phone: HASHED.phone,
  first_name: HASHED.first_name,
  last_name: HASHED.last_name,
  zip_code: HASHED.zip,
  city: 'newyork',
  state: 'ny',
  country: 'us',
  ...device,
};
const page = { url: 'https://shop.example/checkout?x=1', referrer: 'https://www.example.org/' };
const order = orderCompleted();

export default vendorCases(
  tiktok,
  [
    {
      name: 'a product without an id is neither sent nor counted',
      event: orderCompleted({ products: [{ product_id: 'p-1', quantity: 2 }, { name: 'Bag', quantity: 5 }, 'broken'] }),
      requests: [{ contains: { 'data[0].properties.num_items': 2 } }],
    },
    {
      name: 'names are hashed without the spaces inside them',
      event: orderCompleted({}, { traits: { first_name: ' José  María ', last_name: 'de la Cruz' } }),
      requests: [
        {
          contains: {
            // josémaría
            'data[0].user.first_name': 'a6a9049d39c4dd1cc332a44c64da6e6ce99e4ddbc1e9b6595e7f7bad60ef5ef6',
            // delacruz
            'data[0].user.last_name': '6e612c2cd2e7b0e9ebcee301bc7102e8b300fa3df820693946b20e1b9a8793fa',
          },
        },
      ],
    },
    {
      name: 'app: an app event with its device, and limited data use',
      config: { app_id: '7123456789012345678', limited_data_use: true },
      event: track(
        'Signed Up',
        {},
        {
          traits: {},
          context: { app: { namespace: 'com.shop', version: '2.1' }, os: { name: 'Android' }, device: { advertising_id: ' GAID-1 ' } },
        },
      ),
      requests: [
        {
          body: {
            event_source: 'app',
            event_source_id: '7123456789012345678',
            partner_name: 'Firsthand',
            data: [
              {
                event: 'Registration',
                event_time: 1767323045,
                event_id: 'evt-1',
                limited_data_use: true,
                user: { external_id: HASHED.user_id, gaid: 'gaid-1', att_status: 'NOT_APPLICABLE' },
                app: { app_id: 'com.shop', app_version: '2.1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'app, screen: a screen of an iOS app whose user refused tracking',
      config: { app_id: '7123456789012345678' },
      event: pageViewed({
        original_type: 'screen',
        name: 'Cart',
        properties: {},
        context: {
          app: { namespace: 'com.shop', name: 'Shop' },
          os: { name: 'iOS' },
          device: { id: 'idfv-1', advertising_id: 'ab-12', ad_tracking_enabled: false },
        },
      }),
      requests: [
        {
          body: {
            event_source: 'app',
            event_source_id: '7123456789012345678',
            partner_name: 'Firsthand',
            data: [
              {
                event: 'ViewContent',
                event_time: 1767323045,
                event_id: 'evt-2',
                user: { external_id: HASHED.user_id, idfa: 'AB-12', idfv: 'idfv-1', att_status: 'DENIED' },
                app: { app_id: 'com.shop', app_name: 'Shop' },
                properties: { description: 'Cart' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'app: a search has its words under another name than on the web',
      config: { app_id: '7123456789012345678' },
      event: track('Products Searched', { query: 'tea' }, { traits: {}, context: { app: { namespace: 'com.shop' } } }),
      requests: [
        {
          body: {
            event_source: 'app',
            event_source_id: '7123456789012345678',
            partner_name: 'Firsthand',
            data: [
              {
                event: 'Search',
                event_time: 1767323045,
                event_id: 'evt-1',
                user: { external_id: HASHED.user_id },
                app: { app_id: 'com.shop' },
                properties: { search_string: 'tea' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'click id: a remembered click, for an order two pages later',
      event: track(
        'Signed Up',
        {},
        { traits: {}, context: { click_ids: { ttclid: 'E.C.old' }, click_id_times: { ttclid: '2026-01-01T00:00:00.000Z' } } },
      ),
      requests: [
        {
          body: {
            ...head,
            data: [
              {
                event: 'CompleteRegistration',
                event_time: 1767323045,
                event_id: 'evt-1',
                user: { external_id: HASHED.user_id, ttclid: 'E.C.old' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'cookie: _ttp alone is enough to match',
      event: { ...bare('Signed In'), context: { vendor_ids: { ttp: 'ttp-1' } } },
      requests: [{ body: { ...head, data: [{ event: 'Login', event_time: 1767323045, event_id: 'evt-9', user: { ttp: 'ttp-1' } }] } }],
    },
    {
      name: 'app: a search for a trip too',
      variant: 'travel',
      config: { app_id: '7123456789012345678' },
      event: track('Hotel Searched', { city: 'Rome' }, { context: { app: { namespace: 'com.shop' } } }),
      requests: [{ contains: { 'data[0].properties.search_string': 'Rome', 'data[0].properties.query': undefined } }],
    },
    { name: 'a group is no conversion', event: grouped(), dropped: 'mapping_default' },
    {
      name: 'products whose names, brands and categories are numbers',
      event: orderCompleted({ products: [{ product_id: 7, name: 1984, brand: 4711, category: 12, price: '10', quantity: '2' }] }),
      requests: [
        {
          contains: {
            'data[0].properties.contents': [
              { content_id: '7', content_name: '1984', brand: '4711', content_category: '12', price: 10, quantity: 2 },
            ],
          },
        },
      ],
    },
    {
      name: 'a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://business-api.tiktok.com/open_api/v1.3/event/track/',
          headers: { 'Access-Token': '4ed4cd2fexampletoken0123456789abcdef' },
          body: {
            ...head,
            data: [
              {
                event: 'Purchase',
                event_id: 'evt-1',
                event_time: 1767323045,
                user,
                page,
                properties: {
                  order_id: 'o-1',
                  value: 42.5,
                  currency: 'EUR',
                  content_type: 'product',
                  contents: [
                    { content_id: 'p-1', content_name: 'Tea', content_category: 'Drinks', brand: 'Leaf', price: 10, quantity: 2 },
                    { content_id: 'S2', content_name: 'Cup', price: 22.5, quantity: 1 },
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
      name: 'default: a product added to the wishlist',
      event: productViewed({ event: 'Product Added to Wishlist', traits: {} }),
      requests: [
        {
          body: {
            ...head,
            data: [
              {
                event: 'AddToWishlist',
                event_id: 'evt-1',
                event_time: 1767323045,
                user: device,
                page,
                properties: {
                  contents: [{ content_id: 'p-1', content_name: 'Tea', content_category: 'Drinks', price: 10, quantity: 1 }],
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
      name: 'a product added, with a test event code',
      variant: 'retail',
      config: { test_event_code: 'TEST1' },
      event: productViewed({ event: 'Product Added', traits: {} }),
      requests: [
        {
          body: {
            event_source: 'web',
            event_source_id: 'C4ABCDEFGHIJKLMNOPQ0',
            test_event_code: 'TEST1',
            partner_name: 'Firsthand',
            data: [
              {
                event: 'AddToCart',
                event_id: 'evt-1',
                event_time: 1767323045,
                user: device,
                page,
                properties: {
                  contents: [{ content_id: 'p-1', content_name: 'Tea', content_category: 'Drinks', price: 10, quantity: 1 }],
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
      name: 'a page view',
      event: pageViewed(),
      requests: [
        {
          body: {
            ...head,
            data: [
              { event: 'Pageview', event_id: 'evt-2', event_time: 1767323045, user: device, page, properties: { description: 'Home' } },
            ],
          },
        },
      ],
    },
    {
      name: 'a booking in the travel variant',
      variant: 'travel',
      event: track('Booking Completed', { booking_id: 'b-1', total: 99, currency: 'eur' }, { traits: {} }),
      requests: [
        {
          body: {
            ...head,
            data: [
              {
                event: 'Purchase',
                event_id: 'evt-1',
                event_time: 1767323045,
                user: device,
                page,
                properties: { order_id: 'b-1', content_type: 'product', value: 99, currency: 'EUR' },
              },
            ],
          },
        },
      ],
    },
    ...named(
      [
        ['Hotel Searched', 'Search', 'travel'],
        ['Article Viewed', 'ViewContent', 'media'],
        ['Subscription Started', 'Subscribe', 'media'],
        ['Trial Started', 'StartTrial', 'saas'],
        ['Demo Requested', 'Schedule', 'saas'],
      ],
      (name, theirs) => ({
        event: track(name, {}, { traits: {} }),
        requests: [{ body: { ...head, data: [{ event: theirs, event_id: 'evt-1', event_time: 1767323045, user: device, page }] } }],
      }),
    ),
    { name: 'a purchase without currency', event: orderCompleted({ currency: 'coins' }), dropped: 'missing_required:properties.currency' },
    ...lacking({ 'properties.value': track('Order Completed', { currency: 'EUR' }) }),
    { name: 'nobody to match', event: bare('Signed Up'), dropped: 'missing_required:user.email' },
    { name: 'other events', event: track('Custom'), dropped: 'mapping_default' },
    { name: 'a tutorial of a website, for which TikTok has no name', event: track('Onboarding Completed'), dropped: 'mapping_filter' },
    ...sentAs('data[0].event', {
      'Lead Generated': 'Lead',
      'Product Added to Wishlist': 'AddToWishlist',
      'Checkout Started': 'InitiateCheckout',
      'Payment Info Entered': 'AddPaymentInfo',
      'Product Removed': 'RemoveFromCart',
      'Cart Viewed': 'ViewCart',
      'Product Removed from Wishlist': 'RemoveFromWishlist',
    }),
    ...sentAs(
      'data[0].event',
      {
        'Application Installed': 'InstallApp',
        'Application Opened': 'LaunchAPP',
        'Signed Up': 'Registration',
        'Signed In': 'Login',
        'Lead Generated': 'GenerateLead',
        'Newsletter Subscribed': 'GenerateLead',
        'Demo Requested': 'GenerateLead',
        'Checkout Started': 'Checkout',
        'Booking Started': 'Checkout',
        'Product Reviewed': 'Rate',
        'Onboarding Completed': 'CompleteTutorial',
      },
      (event) => ({
        ...everything(event),
        context: {
          ...CONTEXT,
          app: { namespace: 'com.shop', version: '2.1' },
          os: { name: 'Android', version: '14' },
          device: { id: 'android-1', advertising_id: 'gaid-1', type: 'android' },
        },
      }),
      { config: { app_id: '7123456789012345678' } },
    ),
  ],
  [
    { name: 'code 0', events: [order], reply: { status: 200, body: { code: 0, message: 'OK' } }, verdict: { kind: 'delivered' } },
    {
      name: 'code 20001, with its message',
      events: [order],
      reply: { status: 200, body: { code: 20001, message: 'Partially successful' } },
      verdict: { kind: 'delivered', note: 'http_200: Partially successful' },
    },
    {
      name: 'the rate limit comes as 200',
      events: [order],
      reply: { status: 200, body: { code: 40100, message: 'too many requests' } },
      verdict: { kind: 'unavailable', reason: 'http_200: too many requests' },
    },
    {
      name: 'a bad event comes as 200',
      events: [order],
      reply: { status: 200, body: { code: 40002, message: 'event_time is missing' } },
      verdict: { kind: 'refused', reason: 'http_200: event_time is missing' },
    },
    {
      name: 'a bad event among several',
      events: [order, order],
      reply: { status: 200, body: { code: 40002, message: 'no' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    { name: 'a bad token', events: [order, order], reply: { status: 200, body: { code: 40105 } }, verdict: { kind: 'refused' } },
    { name: 'an error of theirs', events: [order], reply: { status: 200, body: { code: 50000 } }, verdict: { kind: 'unavailable' } },
    {
      name: 'an internal error below 50000',
      events: [order],
      reply: { status: 200, body: { code: 40700 } },
      verdict: { kind: 'unavailable' },
    },
    { name: 'no JSON at all', events: [order], reply: { status: 502, body: 'Bad gateway' }, verdict: { kind: 'unavailable' } },
    { name: 'throttled', events: [orderCompleted()], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
  ],
);
