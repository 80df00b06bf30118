import { ISOLATED, lacking, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, productViewed, track } from '../shared/sample-events.ts';
import insider from './vendor.ts';

const url = 'https://unification.useinsider.com/api/user/v1/upsert';
const headers = { 'X-PARTNER-NAME': 'acme', 'X-REQUEST-TOKEN': '0123456789abcdef0123456789abcdef' };
const identifiers = { email: 'anna.berg@example.com', phone_number: '+4915123456789', uuid: 'user-1' };
const timestamp = '2026-01-02T03:04:05.678Z';
const says = (...users: object[]) => [{ method: 'POST', url, headers, body: { users } }];
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7' });
const sentQuiz = { identifiers, events: [{ event_name: 'quiz_taken', timestamp, event_params: { custom: { score: 3 } } }] };
const sentOrder = {
  identifiers,
  events: [
    {
      event_name: 'purchase',
      timestamp,
      event_params: {
        product_id: 'p-1',
        name: 'Tea',
        taxonomy: ['Drinks'],
        unit_price: 10,
        unit_sale_price: 10,
        quantity: 2,
        currency: 'EUR',
        event_group_id: 'o-1',
      },
    },
    {
      event_name: 'purchase',
      timestamp,
      event_params: {
        product_id: 'S2',
        name: 'Cup',
        unit_price: 22.5,
        unit_sale_price: 22.5,
        quantity: 1,
        currency: 'EUR',
        event_group_id: 'o-1',
      },
    },
  ],
};

export default vendorCases(
  insider,
  [
    {
      name: 'a product without a price beside one that has one',
      event: orderCompleted({ products: [{ product_id: 'p-1', price: 10 }, { product_id: 'p-2' }] }),
      requests: [
        {
          contains: {
            'users[0].events[0].event_params.unit_sale_price': 10,
            'users[0].events[1].event_params.unit_sale_price': 0,
            'users[0].events[1].event_params.unit_price': undefined,
          },
        },
      ],
    },
    { name: 'an order is one event for each product', event: order, requests: says(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'a product view',
      event: productViewed(),
      requests: says({
        identifiers,
        events: [
          {
            event_name: 'product_detail_page_view',
            timestamp,
            event_params: { product_id: 'p-1', name: 'Tea', taxonomy: ['Drinks'], currency: 'EUR', unit_price: 10, unit_sale_price: 10 },
          },
        ],
      }),
    },
    { name: 'any other event, in lower case: Insider accepts no capital at the start', event: quiz, requests: says(sentQuiz) },
    {
      name: 'a standard event without a name of Insider’s own',
      variant: 'retail',
      event: track('Checkout Started', { 'Best Price': 5 }),
      requests: says({ identifiers, events: [{ event_name: 'checkout_started', timestamp, event_params: { custom: { best_price: 5 } } }] }),
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({
        identifiers: { uuid: 'user-1' },
        events: [{ event_name: 'page_view', timestamp, event_params: { custom: { path: '/' }, url: 'https://shop.example/checkout?x=1' } }],
      }),
    },
    {
      name: 'identify sets attributes',
      event: identified(),
      requests: says({
        identifiers,
        attributes: { name: 'Anna', surname: 'Berg', country: 'US', city: 'New York', language: 'de_DE' },
        not_append: true,
      }),
    },
    {
      name: 'a group is a custom attribute',
      // Address and number in the traits are those of the group.
      event: grouped({ traits: { name: 'Acme', email: 'info@acme.example', phone: '+49301234567' } }),
      requests: says({ identifiers: { uuid: 'user-1' }, attributes: { custom: { group_id: 'acme', group_name: 'Acme' } } }),
    },
    {
      name: 'an order without a currency',
      event: orderCompleted({ currency: null }),
      dropped: 'missing_required:events[*].event_params.currency',
    },
    ...lacking({
      'events[0].event_params.product_id': track('Product Viewed', { price: 10 }),
      'events[*].event_params.unit_sale_price': orderCompleted({ products: [{ product_id: 'p-1' }] }),
      'events[*].event_params.event_group_id': orderCompleted({ order_id: null }),
    }),
    { name: 'nobody', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:identifiers.email' },
  ],
  [
    {
      name: 'stored',
      events: [order],
      reply: { status: 200, body: { data: { successful: { count: 1 }, fail: { count: 0 } } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'errors of single users: each is sent alone',
      events: [order, quiz],
      reply: { status: 200, body: { data: { successful: { count: 1 }, fail: { count: 1, errors: { 'users.1.events.0': ['invalid'] } } } } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'rejected',
      events: [quiz],
      reply: { status: 200, body: { data: { successful: { count: 0 }, fail: { count: 1, errors: { 'users.0.events.0': ['invalid'] } } } } },
      verdict: { kind: 'refused', reason: 'http_200: {"users.0.events.0":["invalid"]}' },
    },
    { name: 'a request that is not valid, of several users', events: [order, quiz], reply: { status: 422 }, verdict: ISOLATED },
    { name: 'a wrong token', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'throttled as 403', events: [order], reply: { status: 403, body: 'Request Limit Exceeded' }, verdict: { kind: 'unavailable' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
  ],
);
