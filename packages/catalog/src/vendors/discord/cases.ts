import { vendorCases } from '../shared/cases.ts';
import { messageCases } from '../shared/message-cases.ts';
import { orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import discord from './vendor.ts';

const webhook = 'https://discord.com/api/v10/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44fecd1726de135cbe28a41f8b2f777c372';
const order = orderCompleted();
const says = (content: string) => [{ method: 'POST', url: `${webhook}?wait=true`, body: { content, allowed_mentions: { parse: [] } } }];

export default vendorCases(
  discord,
  [
    { name: 'an order', event: order, requests: says('Order o-1 over 42.5 eur was placed.') },
    { name: 'a refund', event: track('Order Refunded', { order_id: 'o-1' }), requests: says('Order o-1 was refunded.') },
    {
      name: 'a booking',
      event: track('Booking Completed', { booking_id: 'b-1', total: 90, currency: 'EUR' }),
      requests: says('Booking b-1 over 90 EUR was made.'),
    },
    { name: 'nobody is mentioned', event: track('Trial Started', { plan: '@everyone' }), requests: says('A trial began: @everyone.') },
    {
      name: 'into a thread',
      config: { thread_id: '199737254929760256' },
      event: track('Signed Up'),
      requests: [{ url: `${webhook}?wait=true&thread_id=199737254929760256` }],
    },
    {
      name: 'a long text is cut',
      config: {
        events: {
          'Quiz Taken': { mappings: [{ source: 'properties.text', target: 'content', transforms: [{ name: 'truncate', args: [2_000] }] }] },
        },
      },
      event: track('Quiz Taken', { text: 'x'.repeat(3_000) }),
      requests: says('x'.repeat(2_000)),
    },
    {
      name: 'a text that is empty',
      config: { events: { 'Quiz Taken': { mappings: [{ template: '{{properties.score}}', target: 'content' }] } } },
      event: track('Quiz Taken'),
      dropped: 'missing_required:content',
    },
    { name: 'other events are dropped', event: pageViewed(), dropped: 'mapping_default' },
    ...messageCases(says),
  ],
  [
    { name: 'posted', events: [order], reply: { status: 200, body: { id: '1' } }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { code: 50006, message: 'Cannot send an empty message' } },
      verdict: { kind: 'refused', reason: 'http_400: Cannot send an empty message' },
    },
    {
      name: 'a webhook that was deleted',
      events: [order],
      reply: { status: 404, body: { code: 10015, message: 'Unknown Webhook' } },
      verdict: { kind: 'refused', reason: 'http_404: Unknown Webhook' },
    },
    {
      name: 'throttled: the wait is in the body, in seconds',
      events: [order],
      reply: { status: 429, body: { message: 'You are being rate limited.', retry_after: 1.5, global: false } },
      verdict: { kind: 'unavailable', reason: 'http_429: You are being rate limited.', retry_after_ms: 1_500 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 502 }, verdict: { kind: 'unavailable' } },
  ],
);
