import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import launchdarkly from './vendor.ts';

const url = 'https://events.launchdarkly.com/v2/event-data-import/default/production';
const headers = {
  Authorization: 'api-0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11',
  'X-LaunchDarkly-Event-Schema': '4',
  'User-Agent': 'MetricImport-Firsthand-int/1',
};
const head = { kind: 'custom', contextKeys: { user: 'user-1' }, creationDate: 1767323045678 };
const says = (...body: object[]) => [{ method: 'POST', url, headers, body }];
const order = orderCompleted();
const quiz = track('Quiz Taken', { score: 3 }, { event_id: 'evt-7' });
const sentOrder = { ...head, key: 'Order Completed', metricValue: 42.5, data: order.properties };
const sentQuiz = { ...head, key: 'Quiz Taken', data: { score: 3 } };

export default vendorCases(
  launchdarkly,
  [
    { name: 'an order with its value', event: order, requests: says(sentOrder) },
    { name: 'a batch', variant: 'retail', event: order, batched: [quiz], requests: says(sentOrder, sentQuiz) },
    {
      name: 'the EU instance',
      config: { region: 'events.eu.launchdarkly.com' },
      event: order,
      requests: [{ url: 'https://events.eu.launchdarkly.com/v2/event-data-import/default/production', headers, body: [sentOrder] }],
    },
    { name: 'a page', event: pageViewed(), requests: says({ ...head, key: 'page_view', data: { path: '/', page_name: 'Home' } }) },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen' }),
      requests: says({ ...head, key: 'screen_view', data: { path: '/', screen_name: 'Home' } }),
    },
    {
      name: 'an anonymous visitor',
      event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' },
      dropped: 'missing_required:contextKeys.user',
    },
    { name: 'identify has no call', event: identified(), dropped: 'mapping_filter' },
    { name: 'group has no call', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202 }, verdict: { kind: 'delivered' } },
    { name: 'too large together', events: [order, quiz], reply: { status: 413 }, verdict: { kind: 'unavailable', isolate: true } as never },
    {
      name: 'a wrong token',
      events: [order],
      reply: { status: 401, body: { message: 'Invalid access token' } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid access token' },
    },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
