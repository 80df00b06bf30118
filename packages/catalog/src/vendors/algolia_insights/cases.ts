import { vendorCases } from '../shared/cases.ts';
import { bare, identified, orderCompleted, PRODUCTS, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import algoliaInsights from './vendor.ts';

const url = 'https://insights.algolia.io/1/events';
const headers = { 'X-Algolia-Application-Id': 'YOURAPPID0', 'X-Algolia-API-Key': '0123456789abcdef0123456789abcdef' };
const head = { index: 'products', userToken: 'anon-1', authenticatedUserToken: 'user-1', timestamp: 1767323045678 };
const says = (...events: object[]) => [{ method: 'POST', url, headers, body: { events } }];
const order = orderCompleted();
const viewed = productViewed({ event_id: 'evt-7' });
const sentOrder = {
  ...head,
  eventType: 'conversion',
  eventSubtype: 'purchase',
  eventName: 'Order Completed',
  objectIDs: ['p-1', 'S2'],
  objectData: [
    { price: 10, quantity: 2 },
    { price: 22.5, quantity: 1 },
  ],
  value: 42.5,
  currency: 'EUR',
};
const sentView = { ...head, eventType: 'view', eventName: 'Product Viewed', objectIDs: ['p-1'] };

export default vendorCases(
  algoliaInsights,
  [
    { name: 'an order is a purchase', event: order, requests: says(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [viewed], requests: says(sentOrder, sentView) },
    {
      name: 'a click after a search, in Germany',
      config: { region: 'insights.de.algolia.io' },
      event: track('Product Clicked', { product_id: 'p-1', position: 3, query_id: '43b15df305339e827f0ac0bdc5ebcaa7' }),
      requests: [
        {
          url: 'https://insights.de.algolia.io/1/events',
          body: {
            events: [
              {
                ...head,
                eventType: 'click',
                eventName: 'Product Clicked',
                objectIDs: ['p-1'],
                positions: [3],
                queryID: '43b15df305339e827f0ac0bdc5ebcaa7',
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a click without a search has no position',
      event: track('Product Clicked', { product_id: 'p-1', position: 3 }),
      requests: says({ ...head, eventType: 'click', eventName: 'Product Clicked', objectIDs: ['p-1'] }),
    },
    {
      name: 'a click after a search needs its position',
      event: track('Product Clicked', { product_id: 'p-1', query_id: '43b15df305339e827f0ac0bdc5ebcaa7' }),
      dropped: 'missing_required:positions[0]',
    },
    {
      name: 'a query id that is none is left out',
      event: track('Product Clicked', { product_id: 'p-1', position: 3, query_id: 'shoes' }),
      requests: says({ ...head, eventType: 'click', eventName: 'Product Clicked', objectIDs: ['p-1'] }),
    },
    {
      name: 'a view has no query id',
      event: track('Product Viewed', { product_id: 'p-1', query_id: '43b15df305339e827f0ac0bdc5ebcaa7' }),
      requests: says(sentView),
    },
    {
      name: 'the query id of an order belongs to its products',
      event: orderCompleted({ query_id: '43b15df305339e827f0ac0bdc5ebcaa7' }),
      requests: says({
        ...sentOrder,
        objectData: sentOrder.objectData.map((data) => ({ ...data, queryID: '43b15df305339e827f0ac0bdc5ebcaa7' })),
      }),
    },
    {
      name: 'at most 20 products, and as many entries of data',
      event: orderCompleted({ total: 25, products: Array.from({ length: 25 }, (_, n) => ({ product_id: `p-${n}`, price: 1 })) }),
      requests: says({
        ...sentOrder,
        objectIDs: Array.from({ length: 20 }, (_, n) => `p-${n}`),
        objectData: Array.from({ length: 20 }, () => ({ price: 1, quantity: 1 })),
        value: 25,
      }),
    },
    {
      name: 'an order in which a product has no id has as many ids as entries of data',
      event: orderCompleted({
        products: [
          { product_id: 'p-1', price: 10 },
          { product_id: '', price: 32.5 },
        ],
      }),
      requests: says({
        ...sentOrder,
        objectIDs: ['p-1', 'unknown'],
        objectData: [
          { price: 10, quantity: 1 },
          { price: 32.5, quantity: 1 },
        ],
      }),
    },
    {
      name: 'an order whose products have no ids',
      event: orderCompleted({ products: [{ price: 1 }] }),
      dropped: 'missing_required:objectIDs',
    },
    {
      name: 'a product in the cart',
      event: track('Product Added', { sku: 'S1', price: 10, quantity: 2, currency: 'eur' }),
      requests: says({
        ...head,
        eventType: 'conversion',
        eventSubtype: 'addToCart',
        eventName: 'Product Added',
        objectIDs: ['S1'],
        objectData: [{ price: 10, quantity: 2 }],
        value: 20,
        currency: 'EUR',
      }),
    },
    {
      name: 'a list',
      event: track('Product List Viewed', { products: PRODUCTS }),
      requests: says({ ...head, eventType: 'view', eventName: 'Product List Viewed', objectIDs: ['p-1', 'S2'] }),
    },
    {
      name: 'a token that Algolia accepts',
      event: productViewed({ anonymous_id: 'anon 1@x', user_id: undefined as never }),
      requests: says({
        index: 'products',
        userToken: 'anon-1-x',
        timestamp: 1767323045678,
        eventType: 'view',
        eventName: 'Product Viewed',
        objectIDs: ['p-1'],
      }),
    },
    { name: 'a product without an id', event: track('Product Viewed', {}), dropped: 'missing_required:objectIDs[0]' },
    { name: 'an order without products', event: orderCompleted({ products: null }), dropped: 'missing_required:objectIDs' },
    { name: 'an event that is too old', event: order, now: '2026-01-07T03:04:05.678Z', dropped: 'event_too_old' },
    { name: 'nobody', event: bare('Product Viewed', { product_id: 'p-1' }), dropped: 'missing_required:userToken' },
    { name: 'other events are dropped', event: pageViewed(), dropped: 'mapping_default' },
    { name: 'identify is dropped', event: identified(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { status: 200, message: 'OK' } }, verdict: { kind: 'delivered' } },
    {
      name: 'one of several is not valid',
      events: [order, viewed],
      reply: { status: 422, body: { status: 422, message: 'EventType must be one of "click", "conversion" or "view"' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 422, body: { status: 422, message: 'The event is too old' } },
      verdict: { kind: 'refused', reason: 'http_422: The event is too old' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { message: 'Invalid credentials' } },
      verdict: { kind: 'refused' },
    },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
