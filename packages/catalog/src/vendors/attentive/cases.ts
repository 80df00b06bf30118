import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import attentive from './vendor.ts';

const api = (path: string) => `https://api.attentivemobile.com/v1/events/${path}`;
const headers = { Authorization: 'Bearer abcdefghijklmnopqrstuvwxyz0123456789' };
const user = { phone: '+4915123456789', email: 'anna.berg@example.com', externalIdentifiers: { clientUserId: 'user-1' } };
const occurredAt = '2026-01-02T03:04:05.678Z';
const order = orderCompleted();

export default vendorCases(
  attentive,
  [
    {
      name: 'an order',
      event: order,
      requests: [
        {
          method: 'POST',
          url: api('ecommerce/purchase'),
          headers,
          body: {
            user,
            orderId: 'o-1',
            occurredAt,
            items: [
              { productId: 'p-1', productVariantId: 'S1', name: 'Tea', quantity: 2, price: [{ value: 10, currency: 'EUR' }] },
              { productId: 'S2', productVariantId: 'S2', name: 'Cup', price: [{ value: 22.5, currency: 'EUR' }] },
            ],
          },
        },
      ],
    },
    {
      name: 'a product view',
      variant: 'retail',
      event: productViewed(),
      requests: [
        {
          url: api('ecommerce/product-view'),
          body: {
            user,
            occurredAt,
            items: [{ productId: 'p-1', productVariantId: 'p-1', name: 'Tea', price: [{ value: 10, currency: 'EUR' }] }],
          },
        },
      ],
    },
    {
      name: 'a product in the cart',
      event: track('Product Added', { product_id: 'p-1', variant_id: 'v-1', price: 10, quantity: 2 }),
      requests: [
        {
          url: api('ecommerce/add-to-cart'),
          body: { user, occurredAt, items: [{ productId: 'p-1', productVariantId: 'v-1', quantity: 2, price: [{ value: 10 }] }] },
        },
      ],
    },
    {
      name: 'any other event is a custom event',
      event: track('Quiz Taken', { score: 3 }, { event_id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' }),
      requests: [
        {
          method: 'POST',
          url: api('custom'),
          headers,
          body: { user, type: 'Quiz Taken', occurredAt, externalEventId: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11', properties: { score: 3 } },
        },
      ],
    },
    {
      name: 'the id of an event need not be a UUID',
      event: track('Quiz Taken', { score: 3 }),
      requests: [
        { url: api('custom'), body: { user, type: 'Quiz Taken', occurredAt, externalEventId: 'evt-1', properties: { score: 3 } } },
      ],
    },
    {
      name: 'a product without a price',
      event: track('Product Viewed', { product_id: 'p-1' }),
      dropped: 'missing_required:view.items[0].price[0].value',
    },
    {
      name: 'an order without products',
      event: orderCompleted({ products: null }),
      dropped: 'missing_required:purchase.items[*].productId',
    },
    ...lacking({
      'view.items[0].productId': track('Product Viewed', { price: 10 }),
      'cart.items[0].price[0].value': track('Product Added', { product_id: 'p-1' }),
      'cart.items[0].productId': track('Product Added', { price: 10 }),
    }),
    { name: 'nobody', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:who.user' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
    { name: 'identify is not sent', event: identified(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200 }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { message: 'Invalid phone' } },
      verdict: { kind: 'refused', reason: 'http_400: Invalid phone' },
    },
    { name: 'a key without the permission', events: [order], reply: { status: 403 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
