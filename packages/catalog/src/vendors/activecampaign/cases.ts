import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import activecampaign from './vendor.ts';

const order = orderCompleted();
const keys = { actid: '476123456', key: '0123456789abcdef0123456789abcdef01234567' };
const says = (fields: Record<string, string>) => [
  {
    method: 'POST',
    url: 'https://trackcmp.net/event',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ visit: '{"email":"anna.berg@example.com"}', ...fields, ...keys }).toString(),
  },
];

export default vendorCases(
  activecampaign,
  [
    { name: 'an order', event: order, requests: says({ eventdata: 'o-1', event: 'Order Completed' }) },
    {
      name: 'a plan',
      variant: 'saas',
      event: track('Plan Changed', { plan: 'pro' }),
      requests: says({ eventdata: 'pro', event: 'Plan Changed' }),
    },
    {
      name: 'a name is cut to 32 characters',
      event: track('A very long name of an event of ours'),
      requests: says({ event: 'A very long name of an event of ' }),
    },
    {
      name: 'identify syncs the contact',
      event: identified(),
      requests: [
        {
          method: 'POST',
          url: 'https://acme.api-us1.com/api/3/contact/sync',
          headers: { 'Api-Token': '0123456789abcdef0123456789abcdef0123456789abcdef' },
          body: { contact: { email: 'anna.berg@example.com', firstName: 'Anna', lastName: 'Berg', phone: '+49 151 234-56789' } },
        },
      ],
    },
    { name: 'no address', event: bare('Quiz Taken'), dropped: 'missing_required:event.visit.email' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    {
      name: 'stored',
      events: [order],
      reply: { status: 200, body: { success: 1, message: 'Event spawned' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'not stored, inside a 200',
      events: [order],
      reply: { status: 200, body: { success: 0, message: 'Event key is incorrect' } },
      verdict: { kind: 'refused', reason: 'http_200: Event key is incorrect' },
    },
    { name: 'a contact', events: [identified()], reply: { status: 200, body: { contact: { id: '1' } } }, verdict: { kind: 'delivered' } },
    {
      name: 'a contact that is not valid',
      events: [identified()],
      reply: { status: 422, body: { errors: [{ title: 'Email address is invalid', detail: '', source: {} }] } },
      verdict: { kind: 'refused', reason: 'http_422: Email address is invalid' },
    },
    {
      name: 'throttled',
      events: [identified()],
      reply: { status: 429, headers: { 'retry-after': '1' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 1_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 503 }, verdict: { kind: 'unavailable' } },
  ],
);
