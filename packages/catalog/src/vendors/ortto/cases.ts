import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import ortto from './vendor.ts';

const url = 'https://api.ap3api.com/v1/activities/create';
const headers = { 'X-Api-Key': 'PRIVATE-0123456789abcdefghijklmnop' };
const fields = { 'str::email': 'anna.berg@example.com', 'str::first': 'Anna', 'str::last': 'Berg' };
const says = (...activities: object[]) => [{ method: 'POST', url, headers, body: { merge_by: ['str::email'], activities } }];
const order = orderCompleted();
const trial = track('Trial Started', { plan: 'pro' }, { event_id: 'evt-7' });
const sentOrder = { activity_id: 'act:cm:order-completed', attributes: {}, fields };
const sentTrial = { activity_id: 'act:cm:trial-started', attributes: {}, fields };

export default vendorCases(
  ortto,
  [
    { name: 'an order', event: order, requests: says(sentOrder) },
    { name: 'a batch', event: order, batched: [trial], requests: says(sentOrder, sentTrial) },
    {
      name: 'an attribute that the customer mapped, in the EU',
      variant: 'saas',
      config: {
        region: 'api.eu.ap3api.com',
        events: { 'Trial Started': { mappings: [{ source: 'properties.plan', target: 'attributes["str:cm:plan"]' }] } },
      },
      event: trial,
      requests: [
        {
          url: 'https://api.eu.ap3api.com/v1/activities/create',
          body: {
            merge_by: ['str::email'],
            activities: [{ activity_id: 'act:cm:trial-started', attributes: { 'str:cm:plan': 'pro' }, fields }],
          },
        },
      ],
    },
    {
      name: 'identify merges the person',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: 'https://api.ap3api.com/v1/person/merge',
          headers,
          body: {
            async: true,
            merge_by: ['str::email'],
            merge_strategy: 2,
            people: [{ fields }],
          },
        },
      ],
    },
    { name: 'an event without a definition in Ortto', event: track('Quiz Taken'), dropped: 'mapping_default' },
    { name: 'no address', event: bare('Order Completed'), dropped: 'missing_required:fields["str::email"]' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    {
      name: 'stored',
      events: [order],
      reply: { status: 200, body: { activities: [{ status: 'ingested' }] } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'one of several is not valid',
      events: [order, trial],
      reply: { status: 400 },
      verdict: { kind: 'unavailable', isolate: true } as never,
    },
    { name: 'a wrong key', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    {
      name: 'throttled: the wait is in the body',
      events: [order],
      reply: { status: 429, body: { error: { code: 'rate-limit', message: 'rate limit', 'try-in-seconds': 4 } } },
      verdict: { kind: 'unavailable', retry_after_ms: 4_000 } as never,
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
