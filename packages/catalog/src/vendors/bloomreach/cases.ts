import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, TRAITS, track } from '../shared/sample-events.ts';
import bloomreach from './vendor.ts';

const url = 'https://api.exponea.com/track/v2/projects/0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11/batch';
// Basic, key id and secret.
const headers = {
  Authorization: 'Basic MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6OmFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1Njc4OQ==',
};
const customer_ids = { registered: 'user-1', cookie: 'anon-1' };
const timestamp = 1767323045;
const says = (...commands: object[]) => [{ method: 'POST', url, headers, body: { commands } }];
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7' });
const sentOrder = {
  name: 'customers/events',
  data: { customer_ids, event_type: 'Order Completed', timestamp, properties: order.properties },
};
const sentQuiz = { name: 'customers/events', data: { customer_ids, event_type: 'Quiz Taken', timestamp, properties: { score: 3 } } };

export default vendorCases(
  bloomreach,
  [
    { name: 'an order', event: order, requests: says(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'an anonymous visitor',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      requests: says({
        name: 'customers/events',
        data: { customer_ids: { cookie: 'anon-1' }, event_type: 'Quiz Taken', timestamp, properties: {} },
      }),
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({
        name: 'customers/events',
        data: {
          customer_ids,
          event_type: 'page_visit',
          timestamp,
          properties: { path: '/', page_name: 'Home', location: 'https://shop.example/checkout?x=1' },
        },
      }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: says({
        name: 'customers/events',
        data: { customer_ids, event_type: 'screen_view', timestamp, properties: { path: '/', screen_name: 'Home' } },
      }),
    },
    {
      name: 'identify sets properties',
      event: identified(),
      requests: says({ name: 'customers', data: { customer_ids, update_timestamp: timestamp, properties: TRAITS } }),
    },
    {
      name: 'a group is a property',
      event: grouped(),
      requests: says({
        name: 'customers',
        data: { customer_ids, update_timestamp: timestamp, properties: { group_id: 'acme', group_name: 'Acme' } },
      }),
    },
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:data.customer_ids.registered' },
  ],
  [
    {
      name: 'executed',
      events: [order],
      reply: { status: 200, body: { success: true, results: [{ success: true }] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one command failed',
      events: [order, quiz],
      reply: { status: 200, body: { success: true, results: [{ success: true }, { success: false, errors: ['Invalid event type'] }] } },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_200: Invalid event type' }] },
    },
    {
      name: 'the batch is not valid',
      events: [order, quiz],
      reply: { status: 400, body: { success: false, message: 'Invalid JSON' } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { errors: ['unauthorized'], success: false } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '6' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 6_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
