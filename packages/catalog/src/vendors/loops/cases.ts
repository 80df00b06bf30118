import { vendorCases } from '../shared/cases.ts';
import { bare, grouped, identified, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import loops from './vendor.ts';

const url = 'https://app.loops.so/api/v1/events/send';
const auth = { Authorization: 'Bearer 0123456789abcdef0123456789abcdef' };
const headers = { ...auth, 'Idempotency-Key': 'evt-1' };
const who = { email: 'anna.berg@example.com', userId: 'user-1' };
const order = orderCompleted();

export default vendorCases(
  loops,
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
            ...who,
            eventName: 'Order Completed',
            eventProperties: { order_id: 'o-1', total: 42.5, revenue: 35, tax: 5, shipping: 2.5, currency: 'eur', coupon: 'TEA10' },
          },
        },
      ],
    },
    {
      name: 'a long text is cut',
      variant: 'saas',
      event: track('Quiz Taken', { text: 'x'.repeat(600) }),
      requests: [{ url, headers, body: { ...who, eventName: 'Quiz Taken', eventProperties: { text: 'x'.repeat(500) } } }],
    },
    {
      name: 'identify updates the contact',
      event: identified(),
      requests: [
        {
          method: 'PUT',
          url: 'https://app.loops.so/api/v1/contacts/update',
          headers: auth,
          body: { ...who, firstName: 'Anna', lastName: 'Berg' },
        },
      ],
    },
    { name: 'nobody', event: { ...bare('Quiz Taken'), anonymous_id: 'anon-1' }, dropped: 'missing_required:event.email' },
    { name: 'pages are not sent', event: pageViewed(), dropped: 'mapping_filter' },
    { name: 'groups are not sent', event: grouped(), dropped: 'mapping_filter' },
  ],
  [
    { name: 'sent', events: [order], reply: { status: 200, body: { success: true } }, verdict: { kind: 'delivered' } },
    {
      name: 'sent before',
      events: [order],
      reply: { status: 409, body: { success: false, message: 'Event already sent' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'a contact that conflicts with another was not stored',
      events: [identified()],
      reply: { status: 409, body: { success: false, message: 'Email or userId already exists.' } },
      verdict: { kind: 'refused', reason: 'http_409: Email or userId already exists.' },
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { success: false, message: 'eventName is required' } },
      verdict: { kind: 'refused', reason: 'http_400: eventName is required' },
    },
    {
      name: 'a wrong key',
      events: [order],
      reply: { status: 401, body: { success: false, message: 'Invalid API key' } },
      verdict: { kind: 'refused', reason: 'http_401: Invalid API key' },
    },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'x-ratelimit-remaining': '0' } },
      verdict: { kind: 'unavailable' },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
