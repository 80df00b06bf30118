import { vendorCases } from '../shared/cases.ts';
import { messageCases } from '../shared/message-cases.ts';
import { orderCompleted, pageViewed, track } from '../shared/sample-events.ts';
import pagerduty from './vendor.ts';

const url = 'https://events.pagerduty.com/v2/enqueue';
const head = { routing_key: '0123456789abcdef0123456789abcdef', event_action: 'trigger', dedup_key: 'evt-1', client: 'Firsthand' };
const payload = { source: 'shop.example', severity: 'info', timestamp: '2026-01-02T03:04:05.678Z' };
const order = orderCompleted();

export default vendorCases(
  pagerduty,
  [
    {
      name: 'an order',
      event: order,
      requests: [
        {
          method: 'POST',
          url,
          body: {
            ...head,
            payload: {
              ...payload,
              summary: 'Order o-1 over 42.5 eur was placed.',
              class: 'Order Completed',
              custom_details: order.properties,
            },
          },
        },
      ],
    },
    {
      name: 'a critical alert of a server, in the EU',
      config: { severity: 'critical', region: 'events.eu.pagerduty.com' },
      event: track('Order Cancelled', { order_id: 'o-1' }, { context: {} }),
      requests: [
        {
          url: 'https://events.eu.pagerduty.com/v2/enqueue',
          body: {
            ...head,
            payload: {
              ...payload,
              source: 'firsthand',
              severity: 'critical',
              summary: 'Order o-1 was cancelled.',
              class: 'Order Cancelled',
              custom_details: { order_id: 'o-1' },
            },
          },
        },
      ],
    },
    {
      name: 'a text that is empty',
      config: { events: { 'Quiz Taken': { mappings: [{ template: '{{properties.score}}', target: 'payload.summary' }] } } },
      event: track('Quiz Taken'),
      dropped: 'missing_required:payload.summary',
    },
    { name: 'other events are dropped', event: pageViewed(), dropped: 'mapping_default' },
    ...messageCases((summary, { event, properties }) => [
      { method: 'POST', url, body: { ...head, payload: { ...payload, summary, class: event, custom_details: properties } } },
    ]),
  ],
  [
    {
      name: 'accepted',
      events: [order],
      reply: { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: 'evt-1' } },
      verdict: { kind: 'delivered' },
    },
    {
      name: 'rejected',
      events: [order],
      reply: { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors: ["'routing_key' is invalid"] } },
      verdict: { kind: 'refused', reason: 'http_400: ["\'routing_key\' is invalid"]' },
    },
    { name: 'throttled', events: [order], reply: { status: 429 }, verdict: { kind: 'unavailable' } },
    { name: 'a failure of theirs', events: [order], reply: { status: 500 }, verdict: { kind: 'unavailable' } },
  ],
);
