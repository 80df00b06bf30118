import { vendorCases } from '../shared/cases.ts';
import { bare, CONTEXT, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import pendo from './vendor.ts';

const url = 'https://app.pendo.io/data/track';
const headers = { 'x-pendo-integration-key': '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c11' };
const key = { integration_key: '0c5b3d6e-7a2f-4c39-9a55-2f6f6d6a1c12.us' };
const head = { type: 'track', visitorId: 'user-1', timestamp: 1767323045678 };
const context = { ip: '203.0.113.7', userAgent: CONTEXT.user_agent, url: 'https://shop.example/checkout?x=1', title: 'Checkout' };
const order = orderCompleted();

export default vendorCases(
  pendo,
  [
    {
      name: 'an order',
      event: order,
      requests: [{ method: 'POST', url, headers, body: { ...head, event: 'Order Completed', properties: order.properties, context } }],
    },
    {
      name: 'an account, in the EU',
      variant: 'saas',
      config: { region: 'app.eu.pendo.io' },
      event: track('Feature Used', { feature: 'x' }, { context: { group_id: 'acme' } }),
      requests: [
        {
          url: 'https://app.eu.pendo.io/data/track',
          body: { ...head, event: 'Feature Used', accountId: 'acme', properties: { feature: 'x' }, context: {} },
        },
      ],
    },
    {
      name: 'names of properties that Pendo would not show',
      event: track('Quiz Taken', { 'right answers': 3 }, { context: {} }),
      requests: [{ body: { ...head, event: 'Quiz Taken', properties: { right_answers: 3 }, context: {} } }],
    },
    {
      name: 'a page',
      event: pageViewed(),
      requests: [{ body: { ...head, event: 'Page Viewed', properties: { path: '/', page_name: 'Home' }, context } }],
    },
    {
      name: 'a screen of an app',
      event: pageViewed({ original_type: 'screen', context: {} }),
      requests: [{ body: { ...head, event: 'Screen Viewed', properties: { path: '/', screen_name: 'Home' }, context: {} } }],
    },
    {
      name: 'identify sets visitor metadata',
      config: key,
      event: identified({ traits: { plan: 'pro' } }),
      requests: [
        {
          method: 'POST',
          url: 'https://app.pendo.io/api/v1/metadata/visitor/custom/value',
          headers: { 'x-pendo-integration-key': key.integration_key },
          body: [{ visitorId: 'user-1', values: { plan: 'pro' } }],
        },
      ],
    },
    {
      name: 'group sets account metadata',
      config: key,
      event: grouped(),
      requests: [
        { url: 'https://app.pendo.io/api/v1/metadata/account/custom/value', body: [{ accountId: 'acme', values: { name: 'Acme' } }] },
      ],
    },
    { name: 'identify without the integration key', event: identified(), dropped: 'mapping_filter' },
    { name: 'an anonymous visitor', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:track.visitorId' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 200 }, verdict: { kind: 'delivered' } },
    { name: 'rejected', events: [order], reply: { status: 400 }, verdict: { kind: 'refused' } },
    { name: 'a wrong secret', events: [order], reply: { status: 403 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
