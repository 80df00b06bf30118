import { ISOLATED, vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import brevo from './vendor.ts';

const url = 'https://api.brevo.com/v3/events/batch';
const headers = { 'api-key': 'xkeysib-0123456789abcdef-0123456789' };
const event_date = '2026-01-02T03:04:05.678Z';
const identifiers = { email_id: 'anna.berg@example.com', ext_id: 'user-1', phone_id: '+4915123456789' };
const order = orderCompleted();
const quiz = track('Quiz Taken!', { 'best score': 3 });
const sentOrder = { event_name: 'Order_Completed', identifiers, event_date, event_properties: order.properties };
const sentQuiz = { event_name: 'Quiz_Taken', identifiers, event_date, event_properties: { best_score: 3 } };
const says = (...events: object[]) => [{ method: 'POST', url, headers, body: { events } }];

export default vendorCases(
  brevo,
  [
    { name: 'an order', event: order, requests: says(sentOrder) },
    { name: 'names that Brevo accepts', variant: 'saas', event: quiz, requests: says(sentQuiz) },
    { name: 'a batch', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({
        event_name: 'page_viewed',
        identifiers: { ext_id: 'user-1' },
        event_date,
        event_properties: { path: '/', page_name: 'Home', page_url: 'https://shop.example/checkout?x=1' },
      }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: says({
        event_name: 'screen_viewed',
        identifiers: { ext_id: 'user-1' },
        event_date,
        event_properties: { path: '/', screen_name: 'Home' },
      }),
    },
    {
      name: 'identify creates or updates the contact',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: 'https://api.brevo.com/v3/contacts',
          headers,
          body: {
            email: 'anna.berg@example.com',
            ext_id: 'user-1',
            attributes: { FIRSTNAME: 'Anna', LASTNAME: 'Berg', SMS: '+4915123456789' },
            updateEnabled: true,
          },
        },
      ],
    },
    {
      name: 'group',
      // Address and number in the traits are those of the group.
      event: grouped({ traits: { name: 'Acme', email: 'info@acme.example', phone: '+49301234567' } }),
      requests: says({
        event_name: 'group_joined',
        identifiers: { ext_id: 'user-1' },
        event_date,
        event_properties: { group_id: 'acme', group_name: 'Acme' },
      }),
    },
    { name: 'nobody', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:event.identifiers.email_id' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202, body: { message: 'queued', count: 1 } }, verdict: { kind: 'delivered' } },
    {
      name: 'some failed',
      events: [order, quiz],
      reply: {
        status: 207,
        body: {
          status: 'partial',
          total_events: 2,
          successful_events: 1,
          failed_events: 1,
          errors: [{ eventIndex: [1], message: 'invalid event_name' }],
        },
      },
      verdict: { kind: 'partial', items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_207: invalid event_name' }] },
    },
    {
      name: 'all failed',
      events: [order, quiz],
      reply: {
        status: 400,
        body: {
          status: 'failed',
          total_events: 2,
          successful_events: 0,
          failed_events: 2,
          errors: [{ eventIndex: [0, 1], message: 'no contact' }],
        },
      },
      verdict: {
        kind: 'partial',
        items: [
          { kind: 'refused', reason: 'http_400: no contact' },
          { kind: 'refused', reason: 'http_400: no contact' },
        ],
      },
    },
    {
      name: 'a request that is too large',
      events: [order, order],
      reply: { status: 413, body: { message: 'Payload too large' } },
      verdict: ISOLATED,
    },
    { name: 'a new contact', events: [identified()], reply: { status: 201, body: { id: 21 } }, verdict: { kind: 'delivered' } },
    {
      name: 'a contact that is not valid',
      events: [identified()],
      reply: { status: 400, body: { code: 'invalid_parameter', message: 'Invalid phone number' } },
      verdict: { kind: 'refused', reason: 'http_400: Invalid phone number' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { code: 'unauthorized', message: 'Key not found' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'throttled: their own header',
      events: [order],
      reply: { status: 429, headers: { 'x-sib-ratelimit-reset': '9' }, body: { message: 'Too many requests' } },
      verdict: { kind: 'unavailable', reason: 'http_429: Too many requests', retry_after_ms: 9_000 },
    },
  ],
);
