import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import onesignal from './vendor.ts';

const app = 'https://api.onesignal.com/apps/567491ee-9105-4a87-9cbc-ed78a571645b';
const headers = { Authorization: 'Key os_v2_app_0123456789abcdefghijklmnop' };
const timestamp = '2026-01-02T03:04:05.678Z';
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { user_id: 'user-2', event_id: 'evt-7' });
const sentOrder = { name: 'Order Completed', external_id: 'user-1', timestamp, properties: order.properties };
const sentQuiz = { name: 'Quiz Taken', external_id: 'user-2', timestamp, properties: { score: 3 } };
const says = (...events: object[]) => [{ method: 'POST', url: `${app}/custom_events`, headers, body: { events } }];

export default vendorCases(
  onesignal,
  [
    { name: 'an order', event: order, requests: says(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'an event id that is a UUID prevents duplicates',
      event: { ...quiz, event_id: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' },
      requests: says({ ...sentQuiz, idempotency_key: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' }),
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({
        name: 'Page Viewed',
        external_id: 'user-1',
        timestamp,
        properties: { path: '/', page_name: 'Home', page_url: 'https://shop.example/checkout?x=1' },
      }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: says({ name: 'Screen Viewed', external_id: 'user-1', timestamp, properties: { path: '/', screen_name: 'Home' } }),
    },
    {
      name: 'identify creates the user and sets tags that name nobody',
      event: identified({ traits: { email: 'a@b.example', plan: 'pro', seats: 5, address: { country: 'Germany' } } }),
      requests: [
        { method: 'POST', url: `${app}/users`, headers, body: { identity: { external_id: 'user-1' } } },
        {
          method: 'PATCH',
          url: `${app}/users/by/external_id/user-1`,
          headers,
          body: { properties: { tags: { plan: 'pro', seats: '5' }, language: 'de', country: 'DE' } },
        },
      ],
    },
    {
      name: 'the language of a locale with an underscore',
      event: identified({ traits: {}, context: { locale: 'de_DE' } }),
      requests: [{ url: `${app}/users` }, { contains: { 'properties.language': 'de' } }],
    },
    {
      name: 'a group is a tag',
      event: grouped(),
      requests: [
        { url: `${app}/users`, body: { identity: { external_id: 'user-1' } } },
        { url: `${app}/users/by/external_id/user-1`, body: { properties: { tags: { group_id: 'acme' } } } },
      ],
    },
    {
      name: 'an anonymous visitor',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      dropped: 'missing_required:event.external_id',
    },
  ],
  [
    { name: 'accepted', events: [order, quiz], reply: { status: 202, body: {} }, verdict: { kind: 'delivered' } },
    {
      name: 'a user whom OneSignal does not know',
      events: [order, quiz],
      reply: {
        status: 202,
        body: {
          errors: [
            {
              event_user_id: 'user-2',
              event_id: '1',
              error: { code: 'not found', title: 'failed to find a onesignal_id for user_id user-2' },
            },
          ],
        },
      },
      verdict: {
        kind: 'partial',
        items: [{ kind: 'delivered' }, { kind: 'refused', reason: 'http_202: failed to find a onesignal_id for user_id user-2' }],
      },
    },
    {
      name: 'one of several is not valid',
      events: [order, quiz],
      reply: { status: 400, body: { errors: ['bad'] } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    { name: 'a wrong key', events: [order], reply: { status: 403, body: { errors: ['Access denied'] } }, verdict: { kind: 'refused' } },
    {
      name: 'an update of a user who is not there yet',
      events: [identified()],
      item: 1,
      reply: { status: 404, body: { errors: ['User not found'] } },
      verdict: { kind: 'unavailable' },
    },
    { name: 'the user is there already', events: [identified()], reply: { status: 200, body: {} }, verdict: { kind: 'delivered' } },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '2' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 2_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
