import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import postscript from './vendor.ts';

const url = 'https://api.postscript.io/api/v2/events';
const headers = { Authorization: 'Bearer sk_0123456789abcdef0123456789abcdef' };
const occurred_at = '2026-01-02 03:04:05.678000';
const order = orderCompleted();

export default vendorCases(
  postscript,
  [
    {
      name: 'an order, without its nested products',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          headers,
          body: {
            type: 'Order_Completed',
            phone: '+4915123456789',
            email: 'anna.berg@example.com',
            occurred_at,
            external_id: 'evt-1',
            properties: { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10' },
          },
        },
      ],
    },
    {
      name: 'a subscriber who is known by address only',
      variant: 'saas',
      event: track('Quiz Taken', { score: 3 }, { traits: { email: 'Anna@Example.com' } }),
      requests: [
        { url, body: { type: 'Quiz_Taken', email: 'anna@example.com', occurred_at, external_id: 'evt-1', properties: { score: 3 } } },
      ],
    },
    {
      name: 'a telephone number that is none leaves the address',
      event: track('Quiz Taken', {}, { traits: { email: 'anna@example.com', phone: 'n/a' } }),
      requests: [{ contains: { phone: undefined, email: 'anna@example.com' } }],
    },
    { name: 'nobody', event: bare('Quiz Taken'), dropped: 'missing_required:phone' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
    { name: 'identify is not sent', event: identified(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'queued', events: [order], reply: { status: 202, body: { event_ids: ['e-1'] } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { error_code: 1001, error_message: 'No subscriber found', success: false } },
      verdict: { kind: 'refused', reason: 'http_400: No subscriber found' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { error_message: 'Invalid token' } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid token' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, body: { error_code: 3002, error_message: 'Rate limited' } },
      verdict: { kind: 'unavailable' },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
