import { vendorCases } from '../shared/cases.ts';
import { messageCases } from '../shared/message-cases.ts';
import { orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import telegram from './vendor.ts';

const url = 'https://api.telegram.org/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage';
const head = { chat_id: '-1001234567890', link_preview_options: { is_disabled: true } };
const order = orderCompleted();
const says = (text: string) => [{ method: 'POST', url, body: { ...head, text } }];

export default vendorCases(
  telegram,
  [
    { name: 'an order', event: order, requests: says('Order o-1 over 42.5 eur was placed.') },
    {
      name: 'a subscription that ended',
      event: track('Subscription Cancelled', { plan: 'pro' }),
      requests: says('A subscription was cancelled: pro.'),
    },
    {
      name: 'into a topic',
      config: { thread_id: 7 },
      event: track('Signed Up'),
      requests: [{ url, body: { ...head, message_thread_id: 7, text: 'Somebody signed up: user user-1.' } }],
    },
    {
      name: 'a text that is empty',
      config: { events: { 'Quiz Taken': { mappings: [{ template: '{{properties.score}}', target: 'text' }] } } },
      event: track('Quiz Taken'),
      dropped: 'missing_required:text',
    },
    { name: 'other events are dropped', event: pageViewed(), dropped: 'mapping_default' },
    ...messageCases(says),
  ],
  [
    {
      name: 'sent',
      events: [order],
      reply: { status: 200, body: { ok: true, result: { message_id: 1 } } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'no such chat',
      events: [order],
      reply: { status: 400, body: { ok: false, error_code: 400, description: 'Bad Request: chat not found' } },
      verdict: { kind: 'refused', reason: 'http_400: Bad Request: chat not found' },
    },
    {
      name: 'the bot was removed',
      events: [order],
      reply: { status: 403, body: { ok: false, error_code: 403, description: 'Forbidden: bot was kicked from the group chat' } },
      verdict: { kind: 'refused', reason: 'http_403: Forbidden: bot was kicked from the group chat' },
    },
    {
      name: 'a wrong token',
      events: [order],
      reply: { status: 401, body: { ok: false, description: 'Unauthorized' } },
      verdict: { kind: 'refused' },
    },
    {
      name: 'throttled: the wait is in the body',
      events: [order],
      reply: {
        status: 429,
        body: { ok: false, error_code: 429, description: 'Too Many Requests: retry after 8', parameters: { retry_after: 8 } },
      },
      verdict: { kind: 'unavailable', reason: 'http_429: Too Many Requests: retry after 8', retry_after_ms: 8_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 502 }, verdict: { kind: 'unavailable' } },
  ],
);
