import { vendorCases } from '../shared/cases.ts';
import { messageCases } from '../shared/message-cases.ts';
import { orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import microsoftTeams from './vendor.ts';

const url =
  'https://prod-01.westeurope.logic.azure.com:443/workflows/0123/triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG';
const order = orderCompleted();
const says = (text: string) => [
  {
    method: 'POST',
    url,
    body: {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [{ type: 'TextBlock', text, wrap: true }],
          },
        },
      ],
    },
  },
];

export default vendorCases(
  microsoftTeams,
  [
    { name: 'an order', event: order, requests: says('Order o-1 over 42.5 eur was placed.') },
    { name: 'a demo', event: track('Demo Requested'), requests: says('Somebody asked for a demo: user user-1.') },
    { name: 'a cancelled order', event: track('Order Cancelled', { order_id: 'o-1' }), requests: says('Order o-1 was cancelled.') },
    {
      name: 'a text that is empty',
      config: {
        events: { 'Quiz Taken': { mappings: [{ template: '{{properties.score}}', target: 'attachments[0].content.body[0].text' }] } },
      },
      event: track('Quiz Taken'),
      dropped: 'missing_required:attachments[0].content.body[0].text',
    },
    { name: 'other events are dropped', event: pageViewed(), dropped: 'mapping_default' },
    ...messageCases(says),
  ],
  [
    { name: 'started', events: [order], reply: { status: 202 }, verdict: { kind: 'delivered' } },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { error: { code: 'TriggerInputSchemaMismatch', message: 'The input body does not match' } } },
      verdict: { kind: 'refused', reason: 'http_400: The input body does not match' },
    },
    { name: 'a wrong signature', events: [order], reply: { status: 401 }, verdict: { kind: 'refused' } },
    { name: 'a workflow that was deleted', events: [order], reply: { status: 404 }, verdict: { kind: 'refused' } },
    {
      name: 'throttled',
      events: [order],
      reply: { status: 429, headers: { 'retry-after': '10' } },
      verdict: { kind: 'unavailable', reason: 'http_429', retry_after_ms: 10_000 },
    },
    { name: 'a failure of theirs', events: [order], reply: { status: 502 }, verdict: { kind: 'unavailable' } },
  ],
);
