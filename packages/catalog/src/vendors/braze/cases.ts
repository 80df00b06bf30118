import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import braze from './vendor.ts';

const url = 'https://rest.iad-01.braze.com/users/track';
const headers = { Authorization: 'Bearer 01234567-89ab-cdef-0123-456789abcdef' };
const time = '2026-01-02T03:04:05.678Z';
/** An identify merges the anonymous visitor's alias into the profile. */
const merge = {
  method: 'POST',
  url: 'https://rest.iad-01.braze.com/users/identify',
  headers,
  body: {
    merge_behavior: 'merge',
    aliases_to_identify: [{ external_id: 'user-1', user_alias: { alias_name: 'anon-1', alias_label: 'anonymous_id' } }],
  },
};
const quiz = track('Quiz Taken', { score: 3 });
const TEA = { product_id: 'p-1', name: 'Tea', price: 5 };

export default vendorCases(
  braze,
  [
    {
      name: 'an order is one purchase a product',
      config: { app_id: 'app-1' },
      event: orderCompleted(),
      requests: [
        {
          method: 'POST',
          url,
          headers,
          body: {
            purchases: [
              {
                external_id: 'user-1',
                app_id: 'app-1',
                time,
                product_id: 'p-1',
                currency: 'EUR',
                price: 10,
                quantity: 2,
                properties: { name: 'Tea', brand: 'Leaf', category: 'Drinks', variant: 'green', order_id: 'o-1', coupon: 'TEA10' },
              },
              {
                external_id: 'user-1',
                app_id: 'app-1',
                time,
                product_id: 'S2',
                currency: 'EUR',
                price: 22.5,
                quantity: 1,
                properties: { name: 'Cup', order_id: 'o-1', coupon: 'TEA10' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a refund is an event, and purchases of negative prices',
      event: track('Order Refunded', {
        order_id: 'o-1',
        currency: 'EUR',
        products: [{ product_id: 7, name: 1984, price: '5', quantity: '2' }],
      }),
      requests: [
        {
          body: {
            events: [
              {
                external_id: 'user-1',
                time,
                name: 'Order Refunded',
                properties: { order_id: 'o-1', currency: 'EUR', products: [{ product_id: 7, name: 1984, price: '5', quantity: '2' }] },
              },
            ],
          },
        },
        {
          body: {
            purchases: [
              {
                external_id: 'user-1',
                time,
                product_id: '7',
                currency: 'EUR',
                price: -5,
                quantity: 2,
                properties: { name: '1984', order_id: 'o-1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a refund of a part of an order, which the shop writes with a minus',
      variant: 'retail',
      event: track('Order Refunded', { order_id: 'o-1', total: -3, currency: 'EUR', products: [{ product_id: 'p-1' }] }),
      requests: [
        { contains: { 'events[0].name': 'Order Refunded' } },
        { contains: { 'purchases[0].product_id': 'order', 'purchases[0].price': -3, 'purchases[0].quantity': 1 } },
      ],
    },
    {
      name: 'a refund without an amount is an event only',
      event: track('Order Refunded', { order_id: 'o-1', currency: 'EUR' }),
      requests: [{ contains: { 'events[0].name': 'Order Refunded' } }],
    },
    {
      name: 'a recommended refund has no minus',
      variant: 'ecommerce',
      event: track('Order Refunded', {
        order_id: 'o-1',
        total: -10,
        currency: 'EUR',
        products: [{ product_id: 7, name: 1984, price: -5, quantity: 2 }],
      }),
      requests: [
        {
          body: {
            events: [
              {
                external_id: 'user-1',
                time,
                name: 'ecommerce.order_refunded',
                properties: {
                  order_id: 'o-1',
                  total_value: 10,
                  currency: 'EUR',
                  source: 'web',
                  products: [{ product_id: '7', product_name: '1984', variant_id: '7', price: 5, quantity: 2 }],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a booking is a purchase',
      variant: 'travel',
      event: track('Booking Completed', { booking_id: 'b-1', total: 840, currency: 'EUR' }),
      requests: [
        {
          body: {
            purchases: [
              {
                external_id: 'user-1',
                time,
                product_id: 'order',
                currency: 'EUR',
                price: 840,
                quantity: 1,
                properties: { order_id: 'b-1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'the recommended e-commerce event of an order',
      variant: 'ecommerce',
      event: orderCompleted(),
      requests: [
        {
          body: {
            events: [
              {
                external_id: 'user-1',
                time,
                name: 'ecommerce.order_placed',
                properties: {
                  order_id: 'o-1',
                  total_value: 42.5,
                  tax: 5,
                  shipping: 2.5,
                  currency: 'EUR',
                  source: 'web',
                  products: [
                    { product_id: 'p-1', product_name: 'Tea', variant_id: 'green', price: 10, quantity: 2 },
                    { product_id: 'S2', product_name: 'Cup', variant_id: 'S2', price: 22.5, quantity: 1 },
                  ],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'app: a product put into the cart of an app is an update of the cart',
      variant: 'ecommerce',
      event: track(
        'Product Added',
        { cart_id: 'c-1', product_id: 'p-1', name: 'Tea', price: 10, quantity: 2, currency: 'eur' },
        { context: { app: { namespace: 'com.shop' }, os: { name: 'iOS' } } },
      ),
      requests: [
        {
          body: {
            events: [
              {
                external_id: 'user-1',
                time,
                name: 'ecommerce.cart_updated',
                properties: {
                  cart_id: 'c-1',
                  action: 'add',
                  currency: 'EUR',
                  source: 'ios',
                  products: [{ product_id: 'p-1', product_name: 'Tea', variant_id: 'p-1', price: 10, quantity: 2 }],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a cart without an id stays a custom event',
      variant: 'ecommerce',
      event: track('Product Removed', { product_id: 'p-1', currency: 'eur' }),
      requests: [
        {
          body: { events: [{ external_id: 'user-1', time, name: 'Product Removed', properties: { product_id: 'p-1', currency: 'eur' } }] },
        },
      ],
    },
    {
      name: 'a viewed cart is not a changed one',
      variant: 'ecommerce',
      event: track('Cart Viewed', { cart_id: 'c-1', products: [{ product_id: 'p-1' }] }),
      requests: [
        {
          body: {
            events: [
              { external_id: 'user-1', time, name: 'Cart Viewed', properties: { cart_id: 'c-1', products: [{ product_id: 'p-1' }] } },
            ],
          },
        },
      ],
    },
    {
      name: 'a cancelled order needs a reason',
      variant: 'ecommerce',
      event: track('Order Cancelled', {
        order_id: 'o-1',
        total: 5,
        currency: 'EUR',
        products: [TEA],
      }),
      requests: [
        {
          body: {
            events: [
              {
                external_id: 'user-1',
                time,
                name: 'ecommerce.order_cancelled',
                properties: {
                  order_id: 'o-1',
                  total_value: 5,
                  currency: 'EUR',
                  source: 'web',
                  cancel_reason: 'unknown',
                  products: [{ product_id: 'p-1', product_name: 'Tea', variant_id: 'p-1', price: 5, quantity: 1 }],
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'screen: a screen is a custom event of its own',
      event: pageViewed({ original_type: 'screen', name: 'Cart', properties: { step: 2 }, context: {} }),
      requests: [
        { body: { events: [{ external_id: 'user-1', time, name: 'Screen Viewed', properties: { step: 2, screen_name: 'Cart' } }] } },
      ],
    },
    {
      name: 'traits do not say whom they are about, and what Braze would not take is left out',
      event: identified({
        traits: {
          external_id: 'somebody-else',
          braze_id: 'b-1',
          user_alias: { alias_name: 'x', alias_label: 'y' },
          _update_existing_only: true,
          email: ' Anna@Example.com ',
          phone: 'none',
          plan: 'pro',
        },
      }),
      requests: [merge, { body: { attributes: [{ external_id: 'user-1', email: 'anna@example.com', plan: 'pro', language: 'de' }] } }],
    },
    {
      name: 'a phone number without a country code is one of the country of the address',
      event: identified({ traits: { phone: '(0151) 234-56789', address: { country: 'Germany' } } }),
      requests: [merge, { body: { attributes: [{ external_id: 'user-1', phone: '+4915123456789', country: 'DE', language: 'de' }] } }],
    },
    {
      name: 'properties under names that Braze reserves are left out, or it would refuse the event',
      event: track('Quiz Taken', { score: 3, time: '12:00', event_name: 'x' }),
      requests: [{ body: { events: [{ external_id: 'user-1', time, name: 'Quiz Taken', properties: { score: 3 } }] } }],
    },
    {
      name: 'an order without products is one purchase',
      event: orderCompleted({ products: null }),
      requests: [
        {
          body: {
            purchases: [
              {
                external_id: 'user-1',
                time,
                product_id: 'order',
                currency: 'EUR',
                price: 42.5,
                quantity: 1,
                properties: { order_id: 'o-1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a recommended order: every product has an id, a name and a price',
      variant: 'ecommerce',
      event: orderCompleted({
        products: [
          { product_id: 'p-1', price: 5 },
          { name: 'Bag', price: 3 },
          { sku: 'S3', name: 'Cup' },
        ],
      }),
      requests: [
        {
          contains: {
            'events[0].properties.products': [
              { product_id: 'p-1', product_name: 'p-1', variant_id: 'p-1', price: 5, quantity: 1 },
              { product_id: 'Bag', product_name: 'Bag', variant_id: 'Bag', price: 3, quantity: 1 },
              { product_id: 'S3', product_name: 'Cup', variant_id: 'S3', price: 0, quantity: 1 },
            ],
          },
        },
      ],
    },
    {
      name: 'an order whose products have no prices is one purchase of its value',
      event: orderCompleted({ products: [{ product_id: 'p-1', quantity: 2 }, { product_id: 'p-2' }] }),
      requests: [{ contains: { 'purchases[0].product_id': 'order', 'purchases[0].price': 42.5, 'purchases[1]': undefined } }],
    },
    {
      name: 'products without prices in an order without a value',
      event: orderCompleted({ total: null, revenue: null, products: [{ product_id: 'p-1', quantity: 2 }] }),
      requests: [{ contains: { 'purchases[0].product_id': 'p-1', 'purchases[0].price': 0, 'purchases[0].quantity': 2 } }],
    },
    {
      name: 'identify merges the alias profile of the visitor, and sets attributes',
      event: identified({
        traits: {
          email: ' Anna@Example.com ',
          firstName: 'Anna',
          gender: 'female',
          birthday: '1990-03-07',
          plan: 'pro',
          address: { city: 'Bonn', country: 'Germany' },
        },
      }),
      requests: [
        merge,
        {
          url,
          headers,
          body: {
            attributes: [
              {
                external_id: 'user-1',
                email: 'anna@example.com',
                first_name: 'Anna',
                gender: 'F',
                dob: '1990-03-07',
                home_city: 'Bonn',
                country: 'DE',
                language: 'de',
                plan: 'pro',
              },
            ],
          },
        },
      ],
    },
    {
      name: 'an unknown visitor has an alias',
      event: track('Quiz Taken', { score: 3 }, { user_id: undefined as never }),
      requests: [
        {
          body: {
            events: [
              {
                user_alias: { alias_name: 'anon-1', alias_label: 'anonymous_id' },
                _update_existing_only: false,
                name: 'Quiz Taken',
                time,
                properties: { score: 3 },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a page is a custom event',
      event: pageViewed(),
      requests: [
        {
          body: {
            events: [
              {
                external_id: 'user-1',
                name: 'Page Viewed',
                time,
                properties: { path: '/', page_name: 'Home', page_url: 'https://shop.example/checkout?x=1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a group is an attribute',
      event: grouped(),
      requests: [{ body: { attributes: [{ external_id: 'user-1', group_id: 'acme', group_name: 'Acme' }] } }],
    },
    {
      name: 'retail keeps the names, unless one is chosen',
      variant: 'retail',
      config: { events: { 'Cart Viewed': { vendor_event_name: 'cart' } } },
      event: track('Cart Viewed', { cart_id: 'c' }),
      requests: [{ body: { events: [{ external_id: 'user-1', name: 'cart', time, properties: { cart_id: 'c' } }] } }],
    },
    ...['rest.jp-01.braze.com', 'rest.kr-01.braze.com'].map((rest_endpoint) => ({
      name: `an instance at ${rest_endpoint}`,
      config: { rest_endpoint },
      event: quiz,
      requests: [{ url: `https://${rest_endpoint}/users/track` }],
    })),
    {
      name: 'the language of a locale with an underscore',
      event: identified({ user_id: 'user-1', anonymous_id: undefined as never, traits: {}, context: { locale: 'de_DE' } }),
      requests: [{ url, contains: { 'attributes[0].language': 'de' } }],
    },
    ...lacking({
      'purchases[0].price': track('Order Completed', { currency: 'EUR' }),
      'purchases[0].currency': track('Order Completed', { total: 5 }),
    }),
    ...lacking(
      {
        'events[0].properties.currency': track('Product Viewed', { product_id: 'p-1', name: 'Tea', price: 10 }),
        'events[0].properties.product_id': track('Product Viewed', { name: 'Tea', price: 10, currency: 'EUR' }),
        'events[0].properties.product_name': track('Product Viewed', { product_id: 'p-1', price: 10, currency: 'EUR' }),
        'events[0].properties.price': track('Product Viewed', { product_id: 'p-1', name: 'Tea', currency: 'EUR' }),
        'events[0].properties.products[*].price': track('Checkout Started', { currency: 'EUR', products: [{ ...TEA, price: null }] }),
        'events[0].properties.checkout_id': track('Checkout Started', { total: 5, currency: 'EUR', products: [TEA] }),
        'events[0].properties.order_id': track('Order Completed', { total: 5, currency: 'EUR', products: [TEA] }),
        'events[0].properties.products[*].product_id': track('Order Completed', { order_id: 'o-1', total: 5, currency: 'EUR' }),
        'events[0].properties.products[*].product_name': track('Order Completed', { currency: 'EUR', products: [{ ...TEA, name: '' }] }),
        'events[0].properties.products[0].product_id': track('Product Added', { cart_id: 'c-1', ...TEA, currency: 'EUR', product_id: '' }),
        'events[0].properties.products[0].product_name': track('Product Added', { cart_id: 'c-1', ...TEA, currency: 'EUR', name: '' }),
        'events[0].properties.products[0].price': track('Product Removed', { cart_id: 'c-1', ...TEA, currency: 'EUR', price: null }),
      },
      { variant: 'ecommerce' },
    ),
    { name: 'nobody to message', event: bare('Quiz Taken'), dropped: 'missing_required:user.external_id' },
    { name: 'an order without currency', event: orderCompleted({ currency: null }), dropped: 'missing_required:purchases[*].currency' },
  ],
  [
    {
      name: 'processed',
      events: [quiz],
      reply: { status: 201, body: { message: 'success', events_processed: 1 } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'some were refused',
      events: [quiz, quiz],
      reply: { status: 201, body: { message: 'success', errors: [{ type: "'name' is required", input_array: 'events', index: 1 }] } },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: "http_201: 'name' is required" }] },
    },
    {
      name: 'a fatal error that comes as 201',
      events: [quiz],
      reply: { status: 201, body: { message: 'Valid data must be provided', errors: [{ type: 'bad', input_array: 'events', index: 0 }] } },
      verdict: { kind: 'refused', reason: 'http_201: Valid data must be provided' },
    },
    {
      name: 'queued during maintenance',
      events: [quiz],
      reply: { status: 202, body: { message: 'queued' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'rate limit of their own header',
      events: [quiz],
      reply: { status: 429, headers: { 'x-ratelimit-retry-after': '12' } },
      verdict: { kind: 'unavailable', retry_after_ms: 12_000 } as never,
    },
    {
      name: 'a bad key',
      events: [quiz],
      reply: { status: 401, body: { message: 'Invalid API key' } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid API key' },
    },
    {
      name: 'one of several is bad',
      events: [quiz, quiz],
      reply: { status: 400, body: { message: 'no' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
  ],
);
