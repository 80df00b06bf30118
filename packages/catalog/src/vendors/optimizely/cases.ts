import { lacking, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import optimizely from './vendor.ts';

const url = 'https://api.us1.odp.optimizely.com/v3/events';
const headers = { 'x-api-key': 'W4WzcEs-ABgXorzY7h1LCQ' };
const ids = { customer_id: 'user-1', fs_user_id: 'user-1' };
const known = { ...ids, email: 'anna.berg@example.com' };
const data = (id: string) => ({ ts: 1767323045, idempotence_id: id, data_source_type: 'firsthand' });
const page = { hostname: 'shop.example', page: '/checkout' };
const says = (...events: object[]) => [{ method: 'POST', url, headers, body: events }];
const order = orderCompleted();
const quiz = track('Quiz Taken', {}, { event_id: 'evt-7', traits: {}, context: {} });
const sentOrder = {
  type: 'order',
  action: 'purchase',
  identifiers: known,
  data: {
    ...data('evt-1'),
    ...page,
    order: {
      order_id: 'o-1',
      total: 42.5,
      tax: 5,
      shipping: 2.5,
      coupon_code: 'TEA10',
      items: [
        { product_id: 'p-1', price: 10, quantity: 2 },
        { product_id: 'S2', price: 22.5, quantity: 1 },
      ],
    },
  },
};
const sentQuiz = { type: 'custom', action: 'Quiz_Taken', identifiers: ids, data: data('evt-7') };

export default vendorCases(
  optimizely,
  [
    { name: 'an order', event: order, requests: says(sentOrder) },
    { name: 'a batch', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'a product, in the EU',
      variant: 'retail',
      config: { region: 'api.eu1.odp.optimizely.com' },
      event: productViewed(),
      requests: [
        {
          url: 'https://api.eu1.odp.optimizely.com/v3/events',
          body: [{ type: 'product', action: 'detail', identifiers: known, data: { ...data('evt-1'), ...page, product_id: 'p-1' } }],
        },
      ],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({ type: 'pageview', identifiers: ids, data: { ...data('evt-2'), title: 'Checkout', ...page } }),
    },
    {
      name: 'identify updates the customer',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: 'https://api.us1.odp.optimizely.com/v3/profiles',
          headers,
          body: [{ attributes: { customer_id: 'user-1', email: 'anna.berg@example.com', first_name: 'Anna', last_name: 'Berg' } }],
        },
      ],
    },
    {
      name: 'group',
      // Address and number in the traits are those of the group.
      event: grouped({ context: {}, traits: { name: 'Acme', email: 'info@acme.example', phone: '+49301234567' } }),
      requests: says({ type: 'group', action: 'join', identifiers: ids, data: { ...data('evt-4'), group_id: 'acme' } }),
    },
    {
      name: 'a refund is subtracted from the order, whose tax and shipping stay',
      event: track('Order Refunded', { order_id: 'o-1', total: 10, tax: 1, shipping: 2 }, { traits: {}, context: {} }),
      requests: says({
        type: 'order',
        action: 'refund',
        identifiers: ids,
        data: { ...data('evt-1'), order: { order_id: 'o-1', total: 10, subtotal: 10 } },
      }),
    },
    {
      name: 'a refund that the shop writes with a minus',
      event: track('Order Refunded', { order_id: 'o-1', total: -10 }, { traits: {}, context: {} }),
      requests: [{ contains: { '[0].data.order': { order_id: 'o-1', total: 10, subtotal: 10 } } }],
    },
    {
      name: 'a cancellation with a subtotal of its own',
      event: track('Order Cancelled', { order_id: 'o-1', total: 10, subtotal: 8 }, { traits: {}, context: {} }),
      requests: says({
        type: 'order',
        action: 'cancel',
        identifiers: ids,
        data: { ...data('evt-1'), order: { order_id: 'o-1', total: 10, subtotal: 8 } },
      }),
    },
    ...Object.entries({ 'Signed Up': 'register', 'Signed In': 'login' }).map(([name, action]) => ({
      name: `${name} is ${action} of the account`,
      event: track(name, {}, { traits: {}, context: {} }),
      requests: says({ type: 'account', action, identifiers: ids, data: data('evt-1') }),
    })),
    {
      name: 'a product that leaves the wishlist',
      event: track('Product Removed from Wishlist', { product_id: 'p-1' }, { traits: {}, context: {} }),
      requests: says({
        type: 'product',
        action: 'remove_from_wishlist',
        identifiers: ids,
        data: { ...data('evt-1'), product_id: 'p-1' },
      }),
    },
    ...lacking({
      'data.product_id': track('Product Viewed', { name: 'Tea' }),
      'data.order.total': track('Order Completed', { order_id: 'o-1' }),
    }),
    { name: 'an order without an id', event: orderCompleted({ order_id: null }), dropped: 'missing_required:data.order.order_id' },
    {
      name: 'an anonymous visitor',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      dropped: 'missing_required:identifiers.customer_id',
    },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202, body: { title: 'Accepted', status: 202 } }, verdict: { kind: 'delivered' } },
    {
      name: 'one of several is not valid',
      events: [order, quiz],
      reply: { status: 400, body: { title: 'Bad Request', status: 400 } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'rejected',
      events: [order],
      reply: {
        status: 400,
        body: { title: 'Bad Request', status: 400, detail: { invalids: [{ event: 0, message: 'Missing required field `product_id`' }] } },
      },
      verdict: { kind: 'refused', reason: 'http_400: Missing required field `product_id`' },
    },
    { name: 'a wrong key', events: [order], reply: { status: 403 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
