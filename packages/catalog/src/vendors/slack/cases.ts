import { vendorCases } from '../shared/cases.ts';
import { messageCases } from '../shared/message-cases.ts';
import { bare, orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import slack from './vendor.ts';

const url = 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX';
const order = orderCompleted();
const says = (text: string) => [{ method: 'POST', url, headers: { 'Content-Type': 'application/json' }, body: { text } }];

export default vendorCases(
  slack,
  [
    { name: 'an order', event: order, requests: says('Order o-1 over 42.5 eur was placed.') },
    { name: 'a sign-up', event: track('Signed Up'), requests: says('Somebody signed up: user user-1.') },
    { name: 'a lead of nobody known', event: bare('Lead Generated'), requests: says('There is a new lead.') },
    { name: 'a plan', event: track('Subscription Started', { plan: 'pro' }), requests: says('A subscription began: pro.') },
    {
      name: 'no event writes a mention',
      event: track('Trial Started', { plan: '<!channel> & <@U1>' }),
      requests: says('A trial began: &lt;!channel&gt; &amp; &lt;@U1&gt;.'),
    },
    {
      name: 'a text of the customer’s own',
      config: { events: { 'Quiz Taken': { mappings: [{ template: 'Score {{properties.score}}', target: 'text' }] } } },
      event: track('Quiz Taken', { score: 3 }),
      requests: says('Score 3'),
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
    { name: 'posted', events: [order], reply: { status: 200, body: 'ok' }, verdict: { kind: 'delivered' } },
    {
      name: 'a payload Slack does not accept',
      events: [order],
      reply: { status: 400, body: 'invalid_payload' },
      verdict: { kind: 'refused', reason: 'http_400: invalid_payload' },
    },
    { name: 'forbidden', events: [order], reply: { status: 403, body: 'action_prohibited' }, verdict: { kind: 'refused' } },
    {
      name: 'a webhook that was removed',
      events: [order],
      reply: { status: 404, body: 'no_service' },
      verdict: { kind: 'refused', reason: 'http_404: no_service' },
    },
    { name: 'an archived channel', events: [order], reply: { status: 410, body: 'channel_is_archived' }, verdict: { kind: 'refused' } },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '30' }, body: 'rate_limited' },
      verdict: { kind: 'unavailable', reason: 'http_429: rate_limited', retry_after_ms: 30_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 500, body: 'rollup_error' }, verdict: { kind: 'unavailable' } },
  ],
);
