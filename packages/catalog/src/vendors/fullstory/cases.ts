import { vendorCases } from '../shared/cases.ts';
import { bare, camelNamed, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import fullstory from './vendor.ts';

const api = 'https://api.fullstory.com/v2';
const headers = (id: string) => ({ Authorization: 'Basic na1.MDEyMzQ1Njc4OWFiY2RlZg==', 'Idempotency-Key': id });
const head = { user: { uid: 'user-1' }, session: { use_most_recent: true }, timestamp: '2026-01-02T03:04:05.678Z' };
const page_url = 'https://shop.example/checkout?x=1';
const order = orderCompleted();
const { products: _, ...flat } = order.properties ?? {};
const says = (id: string, body: object) => [{ method: 'POST', url: `${api}/events`, headers: headers(id), body: { ...head, ...body } }];

export default vendorCases(
  fullstory,
  [
    {
      name: 'an order, with the ids of its products',
      event: order,
      requests: says('evt-1', { name: 'Order Completed', properties: { ...flat, product_ids: ['p-1', 'S2'], page_url } }),
    },
    {
      name: 'names of properties that FullStory accepts',
      event: track('Quiz Taken', { 'Number of points': 3, '2nd': true }, { context: {} }),
      requests: says('evt-1', { name: 'Quiz Taken', properties: { Number_of_points: 3, e_2nd: true } }),
    },
    {
      name: 'any other event, in the EU',
      variant: 'saas',
      config: { region: 'api.eu1.fullstory.com' },
      event: track('Quiz Taken', { score: 3 }, { context: {} }),
      requests: [{ url: 'https://api.eu1.fullstory.com/v2/events', body: { ...head, name: 'Quiz Taken', properties: { score: 3 } } }],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says('evt-2', { name: 'Page Viewed', properties: { path: '/', page_name: 'Home', page_url } }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: says('evt-2', { name: 'Screen Viewed', properties: { path: '/', screen_name: 'Home' } }),
    },
    {
      name: 'identify creates or updates the user',
      event: identified({ traits: { ...identified().traits, plan: 'pro', address: null, phone: null } }),
      requests: [
        {
          method: 'POST',
          url: `${api}/users`,
          headers: headers('evt-3'),
          body: {
            uid: 'user-1',
            email: 'anna.berg@example.com',
            display_name: 'Anna Berg',
            properties: { plan: 'pro' },
          },
        },
      ],
    },
    {
      name: "a name in camel case, as Segment's specification has it",
      event: camelNamed(),
      requests: [{ contains: { display_name: 'Anna Berg' } }],
    },
    {
      name: 'a group is a property of the user',
      event: grouped(),
      requests: [{ url: `${api}/users`, body: { uid: 'user-1', properties: { group_id: 'acme', group_name: 'Acme' } } }],
    },
    { name: 'an anonymous visitor', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:event.user.uid' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { name: 'Order Completed' } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { code: 'session_page_limit_exceeded', message: 'The session has too many pages' } },
      verdict: { kind: 'refused', reason: 'http_400: The session has too many pages' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { code: 'unauthorized', message: 'Invalid key' } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid key' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '4' }, body: { message: 'Too many requests' } },
      verdict: { kind: 'unavailable', reason: 'http_429: Too many requests', retry_after_ms: 4_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
