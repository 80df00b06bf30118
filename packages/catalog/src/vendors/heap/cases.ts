import { ISOLATED, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import heap from './vendor.ts';

const api = 'https://heapanalytics.com/api';
const app_id = '1234567890';
const head = { identity: 'user-1', timestamp: '2026-01-02T03:04:05.678Z' };
const web = { page_url: 'https://shop.example/checkout?x=1', page_referrer: 'https://www.example.org/' };
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7' });

export default vendorCases(
  heap,
  [
    {
      name: 'an order, without its nested products',
      event: order,
      requests: [
        {
          method: 'POST',
          url: `${api}/track`,
          body: {
            app_id,
            events: [
              {
                ...head,
                event: 'Order Completed',
                idempotency_key: 'evt-1',
                properties: { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10', ...web },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'any other event, in the EU',
      variant: 'saas',
      config: { region: 'c.eu.heap-api.com' },
      event: track('Quiz Taken', { score: 3 }, { context: { campaign: { source: 'news' } } }),
      requests: [
        {
          url: 'https://c.eu.heap-api.com/api/track',
          body: {
            app_id,
            events: [{ ...head, event: 'Quiz Taken', idempotency_key: 'evt-1', properties: { score: 3, utm_source: 'news' } }],
          },
        },
      ],
    },
    {
      name: 'a batch',
      event: order,
      batched: [quiz],
      requests: [
        {
          url: `${api}/track`,
          contains: { 'events[0].event': 'Order Completed', 'events[1].event': 'Quiz Taken', 'events[1].idempotency_key': 'evt-7' },
        },
      ],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: [
        {
          body: {
            app_id,
            events: [
              {
                ...head,
                event: 'Page viewed',
                idempotency_key: 'evt-2',
                properties: { path: '/', ...web, page_name: 'Home', page_title: 'Checkout' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { app: { version: '2' } } }),
      requests: [
        {
          body: {
            app_id,
            events: [
              {
                ...head,
                event: 'Screen viewed',
                idempotency_key: 'evt-2',
                properties: { path: '/', app_version: '2', screen_name: 'Home' },
              },
            ],
          },
        },
      ],
    },
    {
      name: 'identify sets user properties',
      event: identified({ traits: { plan: 'pro', address: { city: 'Bonn' } } }),
      requests: [
        {
          method: 'POST',
          url: `${api}/add_user_properties`,
          body: { app_id, identity: 'user-1', properties: { plan: 'pro', 'address.city': 'Bonn' } },
        },
      ],
    },
    {
      name: 'group sets account properties, and the account of the user',
      event: grouped(),
      requests: [
        { url: `${api}/add_user_properties`, body: { app_id, identity: 'user-1', properties: { account_id: 'acme' } } },
        { url: `${api}/add_account_properties`, body: { app_id, account_id: 'acme', properties: { name: 'Acme' } } },
      ],
    },
    { name: 'an anonymous visitor', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:track.identity' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200 }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: 'Invalid event' },
      verdict: { kind: 'refused', reason: 'http_400: Invalid event' },
    },
    { name: 'one of several is not valid', events: [order, quiz], reply: { status: 400, body: 'Invalid event' }, verdict: ISOLATED },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
