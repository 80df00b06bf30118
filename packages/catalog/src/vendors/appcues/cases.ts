import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import appcues from './vendor.ts';

const api = 'https://api.appcues.com/v2/accounts/12345';
// Basic, key and secret.
const headers = {
  Authorization: 'Basic MGM1YjNkNmUtN2EyZi00YzM5LTlhNTUtMmY2ZjZkNmExYzExOjBjNWIzZDZlLTdhMmYtNGMzOS05YTU1LTJmNmY2ZDZhMWMxMg==',
};
const timestamp = '2026-01-02T03:04:05.678Z';
const order = orderCompleted();

export default vendorCases(
  appcues,
  [
    {
      name: 'an order',
      event: order,
      requests: [
        {
          method: 'POST',
          url: `${api}/users/user-1/events`,
          headers,
          body: { name: 'Order Completed', timestamp, attributes: order.properties },
        },
      ],
    },
    {
      name: 'a user id with a slash, in the EU',
      variant: 'saas',
      config: { region: 'api.eu.appcues.com' },
      event: track('Quiz Taken', { score: 3 }, { user_id: 'a/b' }),
      requests: [
        {
          url: 'https://api.eu.appcues.com/v2/accounts/12345/users/a%2Fb/events',
          body: { name: 'Quiz Taken', timestamp, attributes: { score: 3 } },
        },
      ],
    },
    {
      name: 'identify',
      event: identified({ traits: { plan: 'pro', address: { city: 'Bonn' } } }),
      requests: [{ method: 'PATCH', url: `${api}/users/user-1/profile`, headers, body: { plan: 'pro', 'address.city': 'Bonn' } }],
    },
    {
      name: 'group',
      event: grouped(),
      requests: [{ method: 'PATCH', url: `${api}/groups/acme/profile`, headers, body: { name: 'Acme' } }],
    },
    { name: 'an anonymous visitor', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:id' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202 }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { message: 'name is required' } },
      verdict: { kind: 'refused', reason: 'http_400: name is required' },
    },
    { name: 'a wrong key', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
