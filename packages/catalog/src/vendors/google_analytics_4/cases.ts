import { sentAs, vendorCases } from '../shared/cases.ts';
import {
  bare,
  CONTEXT,
  grouped,
  HASHED,
  identified,
  orderCompleted,
  pageViewed,
  productViewed,
  TRAITS,
  track,
} from '../shared/sample-events.ts';
import googleAnalytics4 from './vendor.ts';

const url = 'https://www.google-analytics.com/mp/collect?api_secret=aB3dE5fG7hI9jK1lM3nO5p&measurement_id=G-ABC1234567';
const who = {
  client_id: '1234567890.1700000000',
  user_id: 'user-1',
  ip_override: '203.0.113.7',
  device: { language: 'de-de' },
  consent: { ad_user_data: 'GRANTED', ad_personalization: 'GRANTED' },
};
const timestamp_micros = 1767323045678000;
const user_data = {
  sha256_email_address: [HASHED.email],
  sha256_phone_number: [HASHED.phone],
  address: [
    {
      sha256_first_name: HASHED.first_name,
      sha256_last_name: HASHED.last_name,
      city: 'new york',
      region: 'new york',
      postal_code: '10001-1234',
      country: 'US',
    },
  ],
};
const page = {
  session_id: '1767322800',
  engagement_time_msec: 1,
  page_location: 'https://shop.example/checkout?x=1',
  page_referrer: 'https://www.example.org/',
  page_title: 'Checkout',
};
const purchase = {
  name: 'purchase',
  timestamp_micros,
  params: {
    ...page,
    transaction_id: 'o-1',
    value: 42.5,
    currency: 'EUR',
    tax: 5,
    shipping: 2.5,
    coupon: 'TEA10',
    items: [
      {
        item_id: 'p-1',
        item_name: 'Tea',
        item_brand: 'Leaf',
        item_category: 'Drinks',
        item_variant: 'green',
        price: 10,
        quantity: 2,
        index: 1,
      },
      { item_id: 'S2', item_name: 'Cup', price: 22.5 },
    ],
  },
};

const CONSENTED = { consent: { canonical: { essential: true, analytics: true, marketing: true } } };

export default vendorCases(
  googleAnalytics4,
  [
    {
      name: 'a purchase with its items',
      event: orderCompleted(),
      requests: [{ method: 'POST', url, body: { ...who, user_data, events: [purchase] } }],
    },
    {
      name: 'the region is the host',
      variant: 'retail',
      config: { data_region: 'eu' },
      event: orderCompleted(),
      requests: [
        {
          url: 'https://region1.google-analytics.com/mp/collect?api_secret=aB3dE5fG7hI9jK1lM3nO5p&measurement_id=G-ABC1234567',
          body: { ...who, user_data, events: [purchase] },
        },
      ],
    },
    {
      name: 'one product',
      variant: 'retail',
      event: productViewed(),
      requests: [
        {
          body: {
            ...who,
            user_data,
            events: [
              {
                name: 'view_item',
                timestamp_micros,
                params: {
                  ...page,
                  currency: 'EUR',
                  value: 10,
                  items: [{ item_id: 'p-1', item_name: 'Tea', item_category: 'Drinks', price: 10 }],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'one product with its discount and affiliation, as in a list of products',
      event: track('Product Added', { product_id: 'p-1', price: 10, discount: 1.5, affiliation: 'Web' }),
      requests: [{ contains: { 'events[0].params.items[0].discount': 1.5, 'events[0].params.items[0].affiliation': 'Web' } }],
    },
    {
      name: 'a page view',
      event: pageViewed(),
      requests: [{ body: { ...who, events: [{ name: 'page_view', timestamp_micros, params: { ...page, page_name: 'Home' } }] } }],
    },
    {
      name: 'the visitor’s own id where there is no _ga cookie, denied consent, free names and values within limits',
      event: track(
        '2nd Step: Überprüfung der Bestellung im Warenkorb',
        { 'Plan Name': 'x'.repeat(120), nested: { a: 1 }, n: 3 },
        { traits: {}, context: { consent: { canonical: { marketing: false } }, page: { url: `https://e.example/${'a'.repeat(2000)}` } } },
      ),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            consent: { ad_user_data: 'DENIED', ad_personalization: 'DENIED' },
            events: [
              {
                name: 'e_2nd_Step_Uberprufung_der_Bestellung_im',
                timestamp_micros,
                params: {
                  Plan_Name: 'x'.repeat(100),
                  n: 3,
                  engagement_time_msec: 1,
                  page_location: `https://e.example/${'a'.repeat(982)}`,
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'session: without a _ga_ cookie the visitor’s own session',
      event: track('Quiz Taken', {}, { traits: {}, context: { session: { started_at: '2026-01-02T03:00:00.000Z' } } }),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            events: [{ name: 'Quiz_Taken', timestamp_micros, params: { session_id: '1767322800', engagement_time_msec: 1 } }],
          },
        },
      ],
    },
    {
      name: 'cookie: of several streams the session of its own',
      event: track(
        'Quiz Taken',
        {},
        {
          traits: {},
          context: { vendor_ids: { ga_session_id: '1600000000', ga_sessions: { XYZ: '1600000000', ABC1234567: '1700000000' } } },
        },
      ),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            events: [{ name: 'Quiz_Taken', timestamp_micros, params: { session_id: '1700000000', engagement_time_msec: 1 } }],
          },
        },
      ],
    },
    {
      name: 'native name: a purchase keeps its items',
      event: track('purchase', { transaction_id: 't-1', items: [{ item_id: 'p-1', price: 5 }] }, { traits: {}, context: {} }),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            events: [
              {
                name: 'purchase',
                timestamp_micros,
                params: { transaction_id: 't-1', items: [{ item_id: 'p-1', price: 5 }], engagement_time_msec: 1 },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a server event of a user without a browser has a stable client id',
      event: track('Quiz Taken', {}, { anonymous_id: undefined as never, traits: {}, context: {} }),
      requests: [
        {
          body: {
            client_id: '3334638052.2661025202',
            user_id: 'user-1',
            events: [{ name: 'Quiz_Taken', timestamp_micros, params: { engagement_time_msec: 1 } }],
          },
        },
      ],
    },
    {
      name: 'app: a Firebase stream, the screen and debug mode',
      config: { firebase_app_id: '1:1234567890:android:321abc456def7890', firebase_api_secret: 'app-secret', debug_mode: true },
      event: track(
        'Quiz Taken',
        {},
        { traits: {}, context: { app: { instance_id: 'inst-1' }, screen: { width: 390, height: 844 }, locale: 'de-DE' } },
      ),
      requests: [
        {
          url: 'https://www.google-analytics.com/mp/collect?api_secret=app-secret&firebase_app_id=1%3A1234567890%3Aandroid%3A321abc456def7890',
          body: {
            app_instance_id: 'inst-1',
            user_id: 'user-1',
            device: { language: 'de-de', screen_resolution: '390x844' },
            events: [{ name: 'Quiz_Taken', timestamp_micros, params: { engagement_time_msec: 1, debug_mode: 1 } }],
          },
        },
      ],
    },
    {
      name: 'screen: a screen of an app is a screen_view, not a page_view',
      config: { firebase_app_id: '1:1234567890:android:321abc456def7890', firebase_api_secret: 'app-secret' },
      event: pageViewed({ original_type: 'screen', name: 'Cart', properties: {}, context: { app: { instance_id: 'inst-1' } } }),
      requests: [
        {
          url: 'https://www.google-analytics.com/mp/collect?api_secret=app-secret&firebase_app_id=1%3A1234567890%3Aandroid%3A321abc456def7890',
          body: {
            app_instance_id: 'inst-1',
            user_id: 'user-1',
            events: [{ name: 'screen_view', timestamp_micros, params: { screen_name: 'Cart', engagement_time_msec: 1 } }],
          },
        },
      ],
    },
    {
      name: 'click id: the click is in the address of the page, which Google reads',
      event: track(
        'Quiz Taken',
        {},
        { traits: {}, context: { page: { url: 'https://shop.example/?gclid=G1' }, click_ids: { gclid: 'G1' } } },
      ),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            events: [
              {
                name: 'Quiz_Taken',
                timestamp_micros,
                params: { engagement_time_msec: 1, page_location: 'https://shop.example/?gclid=G1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'consent: no user data after ad_user_data was denied',
      event: track('Quiz Taken', {}, { context: { consent: { canonical: { advertising: false } } } }),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            consent: { ad_user_data: 'DENIED', ad_personalization: 'DENIED' },
            events: [{ name: 'Quiz_Taken', timestamp_micros, params: { engagement_time_msec: 1 } }],
          },
        },
      ],
    },
    {
      name: 'events of one client share a request',
      event: track('Quiz Taken', {}, { traits: {}, context: {} }),
      batched: [track('Quiz Left', {}, { traits: {}, context: {} })],
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            events: [
              { name: 'Quiz_Taken', timestamp_micros, params: { engagement_time_msec: 1 } },
              { name: 'Quiz_Left', timestamp_micros, params: { engagement_time_msec: 1 } },
            ],
          },
        },
      ],
    },
    { name: 'an event older than 72 hours', event: orderCompleted(), now: '2026-01-05T03:04:06.000Z', dropped: 'event_too_old' },
    {
      name: 'a group is joined',
      event: grouped(),
      requests: [
        {
          body: { ...who, events: [{ name: 'join_group', timestamp_micros, params: { ...page, group_id: 'acme' } }] },
        },
      ],
    },
    {
      name: 'a video',
      variant: 'media',
      event: track(
        'Video Playback Completed',
        { asset_id: 7, title: 'How to', total_length: 60 },
        { traits: { plan: 'pro', email: 'not an address' }, context: {} },
      ),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_id: 'user-1',
            user_properties: { plan: { value: 'pro' } },
            events: [
              {
                name: 'video_complete',
                timestamp_micros,
                params: { engagement_time_msec: 1, video_title: 'How to', video_id: '7', video_duration: 60 },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a booking',
      variant: 'travel',
      event: track(
        'Booking Completed',
        { booking_id: 'b-1', value: 900, currency: 'USD', destination: 'LIS', nights: 3 },
        { traits: {}, context: CONTEXT },
      ),
      requests: [
        {
          body: {
            ...who,
            events: [
              {
                name: 'purchase',
                timestamp_micros,
                params: { ...page, transaction_id: 'b-1', value: 900, currency: 'USD', destination: 'LIS', number_of_nights: 3 },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'hashing: names lose digits and symbols, streets only symbols',
      event: track(
        'Quiz Taken',
        {},
        {
          traits: { ...TRAITS, first_name: 'Anna 2', address: { street: ' Main St. 1 ', postal_code: '10001', country: 'US' } },
          context: CONSENTED,
        },
      ),
      requests: [
        {
          contains: {
            'user_data.address[0].sha256_first_name': HASHED.first_name,
            'user_data.address[0].sha256_street': 'dc8ee4cc6f94bcdb4d0f44fc7e458c475bdf48e36d4d2bc959316f0b9318edd4', // main st 1
          },
        },
      ],
    },
    {
      name: 'a refund that the shop writes with a minus',
      event: track('Order Refunded', {
        ...{ order_id: 'o-1', total: -20, tax: -3, shipping: '-2', currency: 'EUR' },
        products: [{ product_id: 'p-1', price: -10, quantity: 2 }, { product_id: 'p-2' }],
      }),
      requests: [
        {
          contains: {
            'events[0].params.value': 20,
            'events[0].params.tax': 3,
            'events[0].params.shipping': 2,
            'events[0].params.items': [{ item_id: 'p-1', price: 10, quantity: 2 }, { item_id: 'p-2' }],
          },
        },
      ],
    },
    {
      name: 'a cancelled booking, with the minus of the booking system',
      variant: 'travel',
      event: track('Booking Cancelled', { booking_id: 'b-1', total: -840, currency: 'EUR', nights: 3 }),
      requests: [
        {
          contains: {
            'events[0].name': 'refund',
            'events[0].params.transaction_id': 'b-1',
            'events[0].params.value': 840,
            'events[0].params.number_of_nights': 3,
          },
        },
      ],
    },
    {
      name: 'a subscription that names no order: its plan is the item',
      variant: 'saas',
      event: track('Subscription Started', { subscription_id: 's-1', plan_id: 7, plan_name: 'Pro', price: '19.90', currency: 'eur' }),
      requests: [
        {
          contains: {
            'events[0].name': 'purchase',
            'events[0].params.transaction_id': 's-1',
            'events[0].params.value': 19.9,
            'events[0].params.currency': 'EUR',
            'events[0].params.items': [{ item_id: '7', item_name: 'Pro', price: 19.9, quantity: 1 }],
          },
        },
      ],
    },
    {
      name: 'a renewal is not the first payment again',
      variant: 'media',
      event: track('Subscription Renewed', { subscription_id: 's-1', plan: 'pro', value: 19.9, currency: 'EUR' }),
      requests: [
        {
          contains: {
            'events[0].name': 'purchase',
            'events[0].params.transaction_id': 'evt-1',
            'events[0].params.value': 19.9,
            'events[0].params.items': [{ item_id: 'pro', item_name: 'pro', quantity: 1 }],
          },
        },
      ],
    },
    {
      name: 'a renewal with an invoice and products',
      event: track('Subscription Renewed', { invoice_id: 'i-2', plan: 'pro', total: 10, products: [{ product_id: 'p-1', price: 10 }] }),
      requests: [
        {
          contains: {
            'events[0].params.transaction_id': 'i-2',
            'events[0].params.items': [{ item_id: 'p-1', price: 10 }],
          },
        },
      ],
    },
    {
      name: 'products whose names, brands and categories are numbers: texts',
      event: orderCompleted({
        coupon: 10,
        affiliation: 5,
        products: [
          { product_id: 7, product_name: 1984, brand: 4711, product_category: 12, variant: 38, coupon: 5, price: '10', quantity: '2' },
        ],
      }),
      requests: [
        {
          contains: {
            'events[0].params.coupon': '10',
            'events[0].params.affiliation': '5',
            'events[0].params.items': [
              {
                item_id: '7',
                item_name: '1984',
                item_brand: '4711',
                item_category: '12',
                item_variant: '38',
                coupon: '5',
                price: 10,
                quantity: 2,
              },
            ],
          },
        },
      ],
    },
    {
      name: 'an address without a country that Google knows is left out as a whole',
      event: track(
        'Quiz Taken',
        {},
        {
          traits: { first_name: 'Anna', last_name: 'Berg', address: { city: 'Berlin', postal_code: '10115', country: 'Atlantis' } },
          context: CONSENTED,
        },
      ),
      requests: [{ contains: { user_data: undefined } }],
    },
    {
      name: 'user data also without a user id, which Google only recommends; the device as parsed',
      event: track(
        'Signed Up',
        { method: 'email' },
        {
          user_id: undefined as never,
          context: {
            device: { type: 'mobile', manufacturer: 'Apple', model: 'iPhone' },
            os: { name: 'iOS', version: '17.4' },
            browser: { name: 'Safari', version: '17.4' },
          },
        },
      ),
      requests: [
        {
          body: {
            client_id: 'anon-1',
            user_data,
            device: {
              category: 'mobile',
              brand: 'Apple',
              model: 'iPhone',
              operating_system: 'iOS',
              operating_system_version: '17.4',
              browser: 'Safari',
              browser_version: '17.4',
            },
            events: [{ name: 'sign_up', timestamp_micros, params: { engagement_time_msec: 1, method: 'email' } }],
          },
        },
      ],
    },
    ...[
      ['tv', 'smart TV'],
      ['ios', undefined],
    ].map(([type, category]) => ({
      name: `a device of the type ${type}`,
      event: track('Signed Up', {}, { context: { device: { type: type ?? '', model: 'X1' } } }),
      requests: [{ contains: { 'device.category': category, 'device.model': 'X1' } }],
    })),
    {
      name: 'many properties leave room for session and page',
      event: track('Survey', Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`q${n}`, n])), { traits: {}, context: CONTEXT }),
      requests: [
        {
          body: {
            ...who,
            events: [
              {
                name: 'Survey',
                timestamp_micros,
                params: { ...Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`q${n}`, n])), ...page },
              },
            ],
          },
        },
      ],
    },
    { name: 'a reserved name is not sent', event: track('session_start'), dropped: 'mapping_default' },
    { name: 'nobody to count', event: bare('Order Completed', { order_id: 'o-1' }), dropped: 'missing_required:client_id' },
    {
      name: 'an order without its id cannot be deduplicated',
      event: orderCompleted({ order_id: null }),
      dropped: 'missing_required:events[0].params.transaction_id',
    },
    { name: 'identify has no event of its own', event: identified(), dropped: 'mapping_filter' },
    ...sentAs('events[0].name', {
      'Products Searched': 'search',
      'Product List Viewed': 'view_item_list',
      'Product Clicked': 'select_item',
      'Promotion Viewed': 'view_promotion',
      'Promotion Clicked': 'select_promotion',
      'Product Added': 'add_to_cart',
      'Product Removed': 'remove_from_cart',
      'Cart Viewed': 'view_cart',
      'Product Added to Wishlist': 'add_to_wishlist',
      'Product Removed from Wishlist': 'remove_from_wishlist',
      'Checkout Started': 'begin_checkout',
      'Checkout Step Completed': 'checkout_progress',
      'Payment Info Entered': 'add_payment_info',
      'Order Refunded': 'refund',
      'Product Shared': 'share',
      'Signed In': 'login',
      'Lead Generated': 'generate_lead',
      'Demo Requested': 'generate_lead',
      'Onboarding Completed': 'tutorial_complete',
      'Trial Started': 'trial_start',
      'Trial Ended': 'trial_end',
      'Invite Sent': 'invite_send',
      'Feature Used': 'feature_use',
      'Plan Changed': 'plan_change',
      'Subscription Cancelled': 'subscription_cancel',
      'Results Viewed': 'view_search_results',
      'Article Viewed': 'view_article',
      'Article Completed': 'article_complete',
      'Newsletter Subscribed': 'newsletter_subscribe',
      'Video Playback Started': 'video_start',
      'Video Playback Paused': 'video_pause',
      'Video Playback Resumed': 'video_resume',
      'Video Content Started': 'video_content_start',
      'Video Content Playing': 'video_progress',
      'Video Content Completed': 'video_content_complete',
      'Video Ad Started': 'video_ad_start',
      'Video Ad Completed': 'video_ad_complete',
    }),
  ],
  [
    { name: '204 says nothing more', events: [orderCompleted()], reply: { status: 204 }, verdict: { kind: 'delivered' } },
    { name: '500', events: [orderCompleted()], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
    { name: '408', events: [orderCompleted()], reply: { status: 408 }, verdict: { kind: 'unavailable' } },
    { name: 'throttled', events: [orderCompleted()], reply: { status: 429 }, verdict: { kind: 'unavailable', reason: 'http_429' } },
    { name: 'rejected', events: [orderCompleted()], reply: { status: 403 }, verdict: { kind: 'refused', reason: 'http_403' } },
  ],
);
