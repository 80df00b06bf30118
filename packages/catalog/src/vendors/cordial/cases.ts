import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import cordial from './vendor.ts';

const url = 'https://api.cordial.io/v2/contactactivities';
// Basic, the key and an empty password.
const headers = { Authorization: 'Basic MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3LWFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eDo=' };
const head = { email: 'anna.berg@example.com', UID: 'evt-1', ats: '2026-01-02T03:04:05.678Z' };
const order = orderCompleted();

export default vendorCases(
  cordial,
  [
    {
      name: 'an order',
      event: order,
      requests: [{ method: 'POST', url, headers, body: { ...head, a: 'Order Completed', properties: order.properties } }],
    },
    {
      name: 'a name is cut to 40 characters, on the other host',
      variant: 'saas',
      config: { region: 'api.usw2.cordial.io' },
      event: track('A very long name of an event of ours, too long'),
      requests: [
        {
          url: 'https://api.usw2.cordial.io/v2/contactactivities',
          body: { ...head, a: 'A very long name of an event of ours, to', properties: {} },
        },
      ],
    },
    {
      name: 'identify creates the contact',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: 'https://api.cordial.io/v2/contacts',
          headers,
          body: { channels: { email: { address: 'anna.berg@example.com' } } },
        },
      ],
    },
    {
      name: 'attributes that the customer mapped stand beside the channels',
      config: {
        events: {
          '@identify': {
            mappings: [
              { source: 'traits.email', target: 'contact.channels.email.address', transforms: ['normalize_email'] },
              { source: 'traits.first_name', target: 'contact.first_name' },
            ],
          },
        },
      },
      event: identified(),
      requests: [{ body: { channels: { email: { address: 'anna.berg@example.com' } }, first_name: 'Anna' } }],
    },
    { name: 'a name that Cordial reserves', event: track('click'), dropped: 'mapping_default' },
    { name: 'no address', event: bare('Quiz Taken'), dropped: 'missing_required:activity.email' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'stored', events: [order], reply: { status: 201, body: { success: true } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { error: true, errorKey: 'INVALID_PARAM', message: 'Unknown contact' } },
      verdict: { kind: 'refused', reason: 'http_400: Unknown contact' },
    },
    {
      name: 'a field that is not valid',
      events: [identified()],
      reply: { status: 400, body: { error: true, errorKey: 'GENERIC_ERROR_KEY', messages: { email: 'Address not exists' } } },
      verdict: { kind: 'refused', reason: 'http_400: {"email":"Address not exists"}' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { error: 'Access Denied: Authentication Failure' } },
      verdict: { kind: 'refused', reason: 'http_401: Access Denied: Authentication Failure' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '3' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 3_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
