import { vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import statsig from './vendor.ts';

const url = 'https://events.statsigapi.net/v1/log_event';
const headers = { 'statsig-api-key': 'secret-0123456789abcdefghijklmnopqrstuvwxyz' };
const time = 1767323045678;
const ids = { userID: 'user-1', customIDs: { stableID: 'anon-1' } };
const web = { ...ids, ip: '203.0.113.7', userAgent: CONTEXT.user_agent, locale: 'de-DE' };
const says = (...events: object[]) => [{ method: 'POST', url, headers, body: { events } }];
const order = orderCompleted({ products: null });
const quiz = track('Quiz Taken', { score: 3, value: 7 }, { event_id: 'evt-7', traits: {}, context: {} });
const sentOrder = {
  eventName: 'Order Completed',
  user: { ...web, email: 'anna.berg@example.com' },
  time,
  value: 42.5,
  metadata: { order_id: 'o-1', total: '42.5', revenue: '35', tax: '5', shipping: '2.5', currency: 'eur', coupon: 'TEA10' },
};
const sentQuiz = { eventName: 'Quiz Taken', user: ids, time, value: 7, metadata: { score: '3', value: '7' } };

export default vendorCases(
  statsig,
  [
    { name: 'an order with its value', event: order, requests: says(sentOrder) },
    { name: 'any other event', variant: 'saas', event: quiz, requests: says(sentQuiz) },
    { name: 'a batch', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'a page',
      event: pageViewed(),
      requests: says({
        eventName: 'page_view',
        user: web,
        time,
        value: 'Home',
        metadata: { path: '/', page_url: 'https://shop.example/checkout?x=1' },
      }),
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: { app: { version: '2' } } }),
      requests: says({ eventName: 'screen_view', user: { ...ids, appVersion: '2' }, time, value: 'Home', metadata: { path: '/' } }),
    },
    { name: 'a name that Statsig reserves', event: track('statsig::gate_exposure'), dropped: 'mapping_default' },
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:user.userID' },
    { name: 'identify has no call', event: identified(), dropped: 'mapping_filter' },
    { name: 'group has no call', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202, body: { success: true } }, verdict: { kind: 'delivered' } },
    {
      name: 'one of several is not valid',
      events: [order, quiz],
      reply: { status: 400 },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    { name: 'a wrong key', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
