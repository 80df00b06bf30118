import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import userpilot from './vendor.ts';

const api = (path: string) => `https://analytex.userpilot.io/v1/${path}`;
const headers = { Authorization: 'Token prd_0123456789abcdef0123456789abcdef', 'X-API-Version': '2020-09-22' };
const order = orderCompleted();

export default vendorCases(
  userpilot,
  [
    {
      name: 'an order, without its nested products',
      event: order,
      requests: [
        {
          method: 'POST',
          url: api('track'),
          headers,
          body: {
            user_id: 'user-1',
            event_name: 'Order Completed',
            metadata: { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10' },
          },
        },
      ],
    },
    {
      name: 'any other event, in the EU',
      variant: 'saas',
      config: { region: 'analytex-eu.userpilot.io' },
      event: track('Quiz Taken', { score: 3 }),
      requests: [
        { url: 'https://analytex-eu.userpilot.io/v1/track', body: { user_id: 'user-1', event_name: 'Quiz Taken', metadata: { score: 3 } } },
      ],
    },
    {
      name: 'identify',
      event: identified({ traits: { plan: 'pro', address: { city: 'Bonn' } } }),
      requests: [
        { method: 'POST', url: api('identify'), headers, body: { user_id: 'user-1', metadata: { plan: 'pro', 'address.city': 'Bonn' } } },
      ],
    },
    {
      name: 'a group is a company, and the user belongs to it',
      event: grouped(),
      requests: [
        { url: api('identify'), body: { user_id: 'user-1', company: { company_id: 'acme' } } },
        { url: api('companies/identify'), body: { company_id: 'acme', metadata: { name: 'Acme' } } },
      ],
    },
    { name: 'an anonymous visitor', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:track.user_id' },
    { name: 'an event that is too old', event: order, now: '2026-01-03T04:04:05.678Z', dropped: 'event_too_old' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202 }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 422, body: { message: 'event_name is required' } },
      verdict: { kind: 'refused', reason: 'http_422: event_name is required' },
    },
    { name: 'a wrong key', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
