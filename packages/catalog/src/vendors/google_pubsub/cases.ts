import { ISOLATED, temporaryAnswers, vendorCases } from '../shared/cases.ts';
import { orderCompleted, pageViewed, VISITOR_SHA256 } from '../shared/sample-events.ts';
import googlePubsub from './vendor.ts';

const order = orderCompleted();
const page = pageViewed();
const messageOf = (event: { event_id: string; type: string }) => ({
  data: btoa(JSON.stringify(event)),
  attributes: { event_id: event.event_id, type: event.type },
});
const part = (value: object) => btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
const account = 'firsthand@acme.iam.gserviceaccount.com';
const JWT = [
  part({ alg: 'RS256', typ: 'JWT', kid: '0123456789abcdef0123456789abcdef01234567' }),
  part({ iss: account, sub: account, aud: 'https://pubsub.googleapis.com/', iat: 1_767_323_100, exp: 1_767_326_700 }),
].join('.');
const error = (status: string) => ({ error: { code: 0, message: status, status } });

export default vendorCases(
  googlePubsub,
  [
    {
      name: 'a batch has no ordering keys',
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
      name: 'one ordering key per request',
      config: { ordering_key: 'visitor' },
      event: order,
      requests: [
        {
          method: 'POST',
          url: 'https://pubsub.googleapis.com/v1/projects/acme-analytics/topics/firsthand-events:publish',
          body: { messages: [{ ...messageOf(order), orderingKey: VISITOR_SHA256 }] },
        },
      ],
    },
    {
      name: 'ordered within a region',
      config: { ordering_key: 'visitor', region: 'europe-west1' },
      event: page,
      requests: [
        {
          url: 'https://europe-west1-pubsub.googleapis.com/v1/projects/acme-analytics/topics/firsthand-events:publish',
          body: { messages: [{ ...messageOf(page), orderingKey: VISITOR_SHA256 }] },
        },
      ],
    },
    {
      name: 'through the endpoint of a region',
      config: { region: 'europe-west1' },
      event: order,
      requests: [{ url: 'https://europe-west1-pubsub.googleapis.com/v1/projects/acme-analytics/topics/firsthand-events:publish' }],
    },
    {
      name: 'jwt: a token that the key signed itself, without an exchange',
      config: { authentication: 'self_signed_jwt' },
      event: order,
      // Cases have no key, so the signature is empty.
      requests: [{ method: 'POST', headers: { Authorization: `Bearer ${JWT}.` } }],
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
    {
      name: 'billing is off',
      events: [order],
      reply: { status: 400, body: error('FAILED_PRECONDITION') },
      verdict: { kind: 'unavailable' },
    },
    { name: 'a missing role', events: [order], reply: { status: 403, body: error('PERMISSION_DENIED') }, verdict: { kind: 'unavailable' } },
    { name: 'a missing topic', events: [order], reply: { status: 404, body: error('NOT_FOUND') }, verdict: { kind: 'unavailable' } },
    { name: 'aborted', events: [order], reply: { status: 409, body: error('ABORTED') }, verdict: { kind: 'unavailable' } },
    ...temporaryAnswers(order),
  ],
);
