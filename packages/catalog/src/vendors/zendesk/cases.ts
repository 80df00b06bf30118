import { vendorCases } from '../shared/cases.ts';
import { bare, camelNamed, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import zendesk from './vendor.ts';

const api = 'https://acme.zendesk.com/api/v2';
// Basic, the address with /token, and the token.
const headers = { Authorization: 'Basic YWdlbnRAYWNtZS5leGFtcGxlL3Rva2VuOjZ3aUlCV2JHa0JNbzFtUkRNdVZ3a3cxRVBzTmtlVWo5NVBJejJha3Y=' };
const created_at = '2026-01-02T03:04:05.678Z';
const profile = { source: 'firsthand', type: 'visitor' };
const order = orderCompleted();

export default vendorCases(
  zendesk,
  [
    {
      name: 'an order on the timeline',
      event: order,
      requests: [
        {
          method: 'POST',
          url: `${api}/user_profiles/events`,
          headers,
          body: {
            event: { source: 'firsthand', type: 'Order_Completed', properties: order.properties, created_at },
            profile: {
              ...profile,
              identifiers: [
                { type: 'email', value: 'anna.berg@example.com' },
                { type: 'external_id', value: 'user-1' },
              ],
            },
          },
        },
      ],
    },
    {
      name: 'a user without an address',
      event: track('Trial Started', { plan: 'pro' }, { traits: {} }),
      requests: [
        {
          body: {
            event: { source: 'firsthand', type: 'Trial_Started', properties: { plan: 'pro' }, created_at },
            profile: { ...profile, identifiers: [{ type: 'external_id', value: 'user-1' }] },
          },
        },
      ],
    },
    {
      name: 'identify creates or updates the user',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: `${api}/users/create_or_update`,
          headers,
          body: {
            user: {
              name: 'Anna Berg',
              email: 'anna.berg@example.com',
              external_id: 'user-1',
              phone: '+49 151 234-56789',
              skip_verify_email: true,
            },
          },
        },
      ],
    },
    {
      name: "a name in camel case, as Segment's specification has it",
      event: camelNamed(),
      requests: [{ contains: { 'user.name': 'Anna Berg' } }],
    },
    {
      name: 'with the token of an OAuth client',
      config: { authentication: 'oauth' },
      event: order,
      requests: [{ method: 'POST', url: `${api}/user_profiles/events`, headers: { Authorization: 'Bearer access-token' } }],
    },
    { name: 'nobody', event: bare('Trial Started'), dropped: 'missing_required:profile.identifiers' },
    { name: 'pages are dropped', event: pageViewed(), dropped: 'mapping_default' },
    { name: 'groups are dropped', event: grouped(), dropped: 'mapping_default' },
  ],
  [
    { name: 'accepted', events: [order], reply: { status: 202 }, verdict: { kind: 'delivered' } },
    { name: 'a user', events: [identified()], reply: { status: 201, body: { user: { id: 1 } } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [identified()],
      reply: { status: 422, body: { error: 'RecordInvalid', description: 'Record validation errors', details: {} } },
      verdict: { kind: 'refused', reason: 'http_422: Record validation errors' },
    },
    {
      name: 'a wrong token',
      events: [order],
      reply: { status: 401, body: { error: 'Could not authenticate you' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'an OAuth token that has expired',
      config: { authentication: 'oauth' },
      events: [order],
      reply: { status: 401, body: { error: 'invalid_token', error_description: 'The access token provided is expired' } },
      verdict: { kind: 'unavailable', reason: 'http_401: invalid_token', refresh_token: true },
    },
    { name: 'two updates at once', events: [identified()], reply: { status: 409 }, verdict: { kind: 'unavailable' } },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '93' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 93_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
