import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, VISITOR_SHA256 } from '../shared/sample-events.ts';
import googlePubsub from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();
const messageOf = (event: { event_id: string; type: string }) => ({
  data: btoa(JSON.stringify(event)),
  attributes: { event_id: event.event_id, type: event.type },
  orderingKey: VISITOR_SHA256,
});
const error = (status: string) => ({ error: { code: 0, message: status, status } });

export default vendorCases(
  googlePubsub,
  [
    {
      name: 'messages with the visitor as ordering key',
      event: order,
      batched: [page],
      requests: [
        {
          method: 'POST',
          url: 'https://pubsub.googleapis.com/v1/projects/acme-analytics/topics/firsthand-events:publish',
          headers: { Authorization: 'Bearer access-token', 'Content-Type': 'application/json' },
          body: { messages: [messageOf(order), messageOf(page)] },
        },
      ],
    },
    {
      name: 'through the endpoint of a region',
      config: { region: 'europe-west1' },
      event: order,
      requests: [{ url: 'https://europe-west1-pubsub.googleapis.com/v1/projects/acme-analytics/topics/firsthand-events:publish' }],
    },
    { name: 'dropped', config: { defaults: { action: 'drop' } }, event: page, dropped: 'mapping_default' },
  ],
  [
    { name: 'published', events: [order], reply: { status: 200, body: { messageIds: ['1'] } }, verdict: { kind: 'delivered' } },
    { name: 'one bad message', events: [order], reply: { status: 400, body: error('INVALID_ARGUMENT') }, verdict: { kind: 'refused' } },
    {
      name: 'a bad message among several',
      events: [order, page],
      reply: { status: 400, body: error('INVALID_ARGUMENT') },
      verdict: ISOLATED,
    },
    { name: 'an old token', events: [order], reply: { status: 401, body: error('UNAUTHENTICATED') }, verdict: { kind: 'unavailable' } },
    { name: 'a missing role', events: [order], reply: { status: 403, body: error('PERMISSION_DENIED') }, verdict: { kind: 'unavailable' } },
    { name: 'a missing topic', events: [order], reply: { status: 404, body: error('NOT_FOUND') }, verdict: { kind: 'unavailable' } },
    { name: 'aborted', events: [order], reply: { status: 409, body: error('ABORTED') }, verdict: { kind: 'unavailable' } },
    ...temporaryAnswers(order),
  ],
);
