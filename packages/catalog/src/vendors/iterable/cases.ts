import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, PRODUCTS, pageViewed, track } from '../shared/sample-events.ts';
import iterable from './vendor.ts';

const url = (path: string) => `https://api.iterable.com/api/${path}`;
const headers = { 'Api-Key': '0123456789abcdef0123456789abcdef' };
const email = 'anna.berg@example.com';
const order = orderCompleted();
const { products: _products, ...orderFields } = order.properties ?? {};
const items = [
  { id: 'p-1', sku: 'S1', name: 'Tea', price: 10, quantity: 2, categories: ['Drinks'] },
  { id: 'S2', sku: 'S2', name: 'Cup', price: 22.5, quantity: 1 },
];
const quiz = track('Quiz Taken', { score: 3 });
const sentQuiz = { email, eventName: 'Quiz Taken', id: 'evt-1', createdAt: 1767323045, dataFields: { score: 3 } };
const other = track('Quiz Taken', {}, { event_id: 'evt-7', traits: { email: 'ben@example.com' } });

export default vendorCases(
  iterable,
  [
    {
      name: 'an order is a purchase',
      event: order,
      requests: [
        {
          method: 'POST',
          url: url('commerce/trackPurchase'),
          headers,
          body: { id: 'o-1', user: { email }, items, total: 42.5, createdAt: 1767323045, dataFields: orderFields },
        },
      ],
    },
    {
      name: 'a cart replaces the cart',
      variant: 'retail',
      event: track('Cart Viewed', { products: PRODUCTS }),
      requests: [{ method: 'POST', url: url('commerce/updateCart'), headers, body: { user: { email }, items } }],
    },
    {
      name: 'a custom event',
      event: quiz,
      requests: [{ method: 'POST', url: url('events/trackBulk'), headers, body: { events: [sentQuiz] } }],
    },
    {
      name: 'a batch, in the EU',
      config: { region: 'api.eu.iterable.com' },
      event: quiz,
      batched: [other],
      requests: [
        {
          url: 'https://api.eu.iterable.com/api/events/trackBulk',
          body: {
            events: [sentQuiz, { email: 'ben@example.com', eventName: 'Quiz Taken', id: 'evt-7', createdAt: 1767323045, dataFields: {} }],
          },
        },
      ],
    },
    {
      name: 'a project that identifies by user id',
      config: { user_key: 'user_id' },
      event: quiz,
      requests: [
        { body: { events: [{ userId: 'user-1', eventName: 'Quiz Taken', id: 'evt-1', createdAt: 1767323045, dataFields: { score: 3 } }] } },
      ],
    },
    {
      name: 'a page, of a user without an address',
      event: pageViewed(),
      requests: [
        {
          body: {
            events: [
              {
                userId: 'user-1',
                eventName: 'Page Viewed',
                id: 'evt-2',
                createdAt: 1767323045,
                dataFields: { path: '/', page_name: 'Home', page_url: 'https://shop.example/checkout?x=1' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a user whose address is no address is known by the user id',
      event: track('Quiz Taken', {}, { traits: { email: 'n/a' } }),
      requests: [{ body: { events: [{ userId: 'user-1', eventName: 'Quiz Taken', id: 'evt-1', createdAt: 1767323045, dataFields: {} }] } }],
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: [
        {
          body: {
            events: [
              {
                userId: 'user-1',
                eventName: 'Screen Viewed',
                id: 'evt-2',
                createdAt: 1767323045,
                dataFields: { path: '/', screen_name: 'Home' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'identify updates the user',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: url('users/bulkUpdate'),
          headers,
          body: {
            users: [
              {
                email,
                userId: 'user-1',
                preferUserId: true,
                mergeNestedObjects: true,
                dataFields: {
                  firstName: 'Anna',
                  lastName: 'Berg',
                  phoneNumber: '+4915123456789',
                  address: { city: 'New York', state: 'New York', postal_code: '10001-1234', country: 'US' },
                },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a group is two fields of the user',
      event: grouped(),
      requests: [
        {
          url: url('users/bulkUpdate'),
          body: { users: [{ userId: 'user-1', preferUserId: true, dataFields: { group_id: 'acme', group_name: 'Acme' } }] },
        },
      ],
    },
    {
      name: 'an order of a user without an address: Iterable would reject the id alone of somebody new',
      event: orderCompleted({}, { traits: {} }),
      requests: [{ contains: { user: { userId: 'user-1', preferUserId: true } } }],
    },
    {
      name: 'a cart in a project that identifies by user id',
      config: { user_key: 'user_id' },
      event: track('Cart Viewed', { products: PRODUCTS }),
      requests: [{ contains: { user: { userId: 'user-1', preferUserId: true } } }],
    },
    {
      name: 'the address of a group is not that of its user',
      event: grouped({ traits: { name: 'Acme', email: 'info@acme.example' } }),
      requests: [{ body: { users: [{ userId: 'user-1', preferUserId: true, dataFields: { group_id: 'acme', group_name: 'Acme' } }] } }],
    },
    {
      name: 'products whose names and categories are numbers, and numbers that are texts',
      event: orderCompleted({ total: '20', products: [{ product_id: 7, sku: 8, name: 1984, category: 12, price: '10', quantity: '2' }] }),
      requests: [
        {
          contains: {
            items: [{ id: '7', sku: '8', name: '1984', categories: ['12'], price: 10, quantity: 2 }],
            total: 20,
          },
        },
      ],
    },
    {
      name: 'an order whose product has no price',
      event: orderCompleted({ products: [{ product_id: 'p-1' }] }),
      dropped: 'missing_required:purchase.items[*].price',
    },
    {
      name: 'a product without a price beside one that has one',
      event: orderCompleted({
        products: [
          { product_id: 'p-1', price: 10 },
          { product_id: 'p-2', name: 'Bag' },
        ],
      }),
      requests: [
        {
          contains: {
            items: [
              { id: 'p-1', name: 'p-1', price: 10, quantity: 1 },
              { id: 'p-2', name: 'Bag', price: 0, quantity: 1 },
            ],
            total: 42.5,
          },
        },
      ],
    },
    {
      name: 'a product without name and quantity',
      event: track('Cart Viewed', { products: [{ product_id: 'p-1', price: 10 }] }),
      requests: [{ contains: { items: [{ id: 'p-1', name: 'p-1', price: 10, quantity: 1 }] } }],
    },
    {
      name: 'identify, in a project that identifies by user id',
      config: { user_key: 'user_id' },
      event: identified(),
      requests: [{ contains: { 'users[0].userId': 'user-1', 'users[0].email': undefined, 'users[0].dataFields.email': email } }],
    },
    { name: 'an order without products', event: orderCompleted({ products: null }), dropped: 'missing_required:purchase.items[*].id' },
    ...lacking({
      'cart.items[*].id': track('Cart Viewed', { products: [{ name: 'Tea' }] }),
      'cart.items[*].price': track('Cart Viewed', { products: [{ product_id: 'p-1' }] }),
    }),
    { name: 'nobody', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:who.email' },
  ],
  [
    {
      name: 'all stored',
      events: [quiz, other],
      reply: { status: 200, body: { successCount: 2, failCount: 0, failedUpdates: { invalidEmails: [] } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'an address that is not valid',
      events: [quiz, other],
      reply: {
        status: 200,
        body: { successCount: 1, failCount: 1, msg: 'partial', failedUpdates: { invalidEmails: ['ben@example.com'] } },
      },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused' }] } as never,
    },
    {
      name: 'a user who was forgotten',
      events: [identified()],
      reply: { status: 200, body: { successCount: 0, failCount: 1, failedUpdates: { forgottenEmails: [email] } } },
      verdict: { kind: 'partial', items: [{ kind: 'refused' }] } as never,
    },
    {
      name: 'an event name that the project does not accept',
      events: [quiz],
      reply: { status: 200, body: { successCount: 0, failCount: 1, disallowedEventNames: ['Quiz Taken'] } },
      verdict: { kind: 'partial', items: [{ kind: 'refused' }] } as never,
    },
    {
      name: 'a purchase',
      events: [order],
      reply: { status: 200, body: { msg: '', code: 'Success', params: null } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a purchase with a field of another type',
      events: [order],
      reply: { status: 400, body: { msg: 'Field types mismatch', code: 'RequestFieldsTypesMismatched' } },
      verdict: { kind: 'refused', reason: 'http_400: Field types mismatch' },
    },
    {
      name: 'one of several is not valid',
      events: [quiz, other],
      reply: { status: 400, body: { msg: 'invalid', code: 'BadParams' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'a wrong key',
      events: [quiz],
      reply: { status: 401, body: { msg: 'Invalid API key', code: 'BadApiKey' } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid API key' },
    },
    {
      name: 'throttled',
      events: [quiz],
      reply: { status: 429, headers: { 'retry-after': '3' }, body: { msg: 'Rate limit exceeded', code: 'RateLimitExceeded' } },
      verdict: { kind: 'unavailable', reason: 'http_429: Rate limit exceeded', retry_after_ms: 3_000 },
    },
  ],
);
