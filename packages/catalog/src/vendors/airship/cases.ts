import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import airship from './vendor.ts';

const url = 'https://go.urbanairship.com/api/custom-events';
const headers = {
  Authorization: 'Bearer 0123456789abcdefghijklmnopqrstuvwxyz',
  'X-UA-Appkey': 'ISex_TTJRuarzs9-o_Gkhg',
  Accept: 'application/vnd.urbanairship+json; version=3',
};
const head = { occurred: '2026-01-02T03:04:05Z', user: { named_user_id: 'user-1' } };
const page = { interaction_id: '/checkout?x=1', interaction_type: 'url' };
const says = (...events: object[]) => [{ method: 'POST', url, headers, body: events }];
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7', context: {} });
const sentOrder = { ...head, body: { name: 'order_completed', value: 42.5, transaction: 'o-1', properties: order.properties, ...page } };
const sentQuiz = { ...head, body: { name: 'quiz_taken', properties: { score: 3 } } };

export default vendorCases(
  airship,
  [
    { name: 'an order with its value', event: order, requests: says(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'the EU',
      config: { region: 'go.airship.eu' },
      event: quiz,
      requests: [{ url: 'https://go.airship.eu/api/custom-events', body: [sentQuiz] }],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({ ...head, body: { name: 'page_viewed', properties: { path: '/', page_name: 'Home' }, ...page } }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: says({ ...head, body: { name: 'screen_viewed', properties: { path: '/', screen_name: 'Home' } } }),
    },
    {
      name: 'a long text is cut',
      event: track('Quiz Taken', { answer: 'a'.repeat(300) }, { context: {} }),
      requests: says({ ...head, body: { name: 'quiz_taken', properties: { answer: 'a'.repeat(255) } } }),
    },
    {
      name: 'a long address of a page and a long order id are cut, or Airship would reject the whole batch',
      event: track(
        'Order Completed',
        { order_id: 'o'.repeat(300) },
        { context: { page: { url: `https://shop.example/?q=${'a'.repeat(300)}` } } },
      ),
      requests: [{ contains: { '[0].body.interaction_id': `/?q=${'a'.repeat(251)}`, '[0].body.transaction': 'o'.repeat(255) } }],
    },
    {
      name: 'an event that is older than 90 days',
      event: quiz,
      now: '2026-04-02T03:05:05.000Z',
      dropped: 'event_too_old',
    },
    {
      name: 'an anonymous visitor',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      dropped: 'missing_required:user.named_user_id',
    },
    { name: 'identify is not sent', event: identified(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200, body: { ok: true, operation_id: 'op-1' } }, verdict: { kind: 'delivered' } },
    {
      name: 'one of several is not valid',
      events: [order, quiz],
      reply: { status: 400, body: { ok: false, error: 'Invalid name', error_code: 40214 } },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { ok: false, error: 'Invalid name', error_code: 40214 } },
      verdict: { kind: 'refused', reason: 'http_400: Invalid name' },
    },
    { name: 'a wrong token', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
