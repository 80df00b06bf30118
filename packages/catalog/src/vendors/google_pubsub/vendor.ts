/** https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish and …/PubsubMessage (read 2026-11-16). */
import type { Condition } from '@firsthand/core/config/resources.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AuthDefinition, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { optionalText, select, text } from '../shared/fields.ts';
import { SERVICE_ACCOUNT_FIELDS } from '../shared/google.ts';
import { EVERY_EVENT, VISITOR_ORDER } from '../shared/streams.ts';

const AUTH: AuthDefinition = {
  kind: 'choice',
  field: 'authentication',
  options: {
    access_token: {
      kind: 'google_service_account',
      token_url: 'https://oauth2.googleapis.com/token',
      client_email: '{{parameters.client_email}}',
      private_key: '{{parameters.private_key}}',
      scope: 'https://www.googleapis.com/auth/pubsub',
    },
    // https://google.aip.dev/auth/4111: the token that the key signs is the credential itself.
    self_signed_jwt: {
      kind: 'jwt',
      jwt: {
        algorithm: 'RS256',
        private_key: '{{parameters.private_key}}',
        key_id: '{{parameters.private_key_id}}',
        claims: { iss: '{{parameters.client_email}}', sub: '{{parameters.client_email}}', aud: 'https://pubsub.googleapis.com/' },
        lifetime_s: 3_600,
      },
    },
  },
};

const REGIONAL = '{{parameters.region}}-pubsub.googleapis.com';
const GLOBAL = 'pubsub.googleapis.com';
const IN_REGION: Condition = { field: 'parameters.region', op: 'exists' };
const BY_VISITOR: Condition = { field: 'parameters.ordering_key', op: 'eq', value: 'visitor' };

/** All messages of a request must have the same ordering key, or none: an ordered event is a request of its own. */
const publish = (host: string, ordered: boolean): RequestDefinition => ({
  method: 'POST',
  url: `https://${host}/v1/projects/{{parameters.project}}/topics/{{parameters.topic}}:publish`,
  auth: AUTH,
  shape: {
    data: { $base64: 'payload' },
    attributes: { event_id: '{{item.id}}', type: '{{event.type}}' },
    ...(ordered ? { orderingKey: '{{item.visitor_sha256}}' } : {}),
  },
  body: { kind: 'json_list', under: 'messages' },
  ...(ordered ? {} : { batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 200 } }),
  answers: [
    // Billing, the key of the topic or its region: a person corrects it. https://cloud.google.com/pubsub/docs/reference/error-codes
    {
      status: [400],
      when: { field: 'body.error.status', op: 'eq', value: 'FAILED_PRECONDITION' },
      verdict: 'unavailable',
      reason: 'body.error.message',
    },
    // All or nothing: one bad message fails the request.
    { status: [400], verdict: 'refused', reason: 'body.error.message', isolate: true },
    // A self-signed token that Google rejects cannot be exchanged for a new one: the events wait for the right key.
    { status: [401, 403, 404, 408, 409, 499], verdict: 'unavailable', reason: 'body.error.message' },
  ],
});

export default defineVendor({
  key: 'google_pubsub',
  name: 'Google Cloud Pub/Sub',
  description: 'Publishes events to a topic, in batches or with the visitor as ordering key.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish',
  setup_steps: [
    'Create a topic and a subscription. If the order matters, enable message ordering on the subscription and choose the ordering key visitor here.',
    'Create a service account with the role Pub/Sub Publisher on the topic, and a JSON key for it.',
    'Send an event and pull it from the subscription.',
  ],
  notes: [
    'At least once: Pub/Sub does not deduplicate what is published. The attribute event_id lets a subscriber drop repeats.',
    'With the ordering key visitor each event is a request of its own: Google accepts one ordering key per request, and keeps the order only within one region. Name it.',
  ],
  config_fields: [
    text('project', 'Project ID', 'acme-analytics', 'The project of the topic.', {
      pattern: '^[a-z][a-z0-9.:\\-]{4,61}[a-z0-9]$',
      pattern_hint: 'a project id',
    }),
    text('topic', 'Topic', 'firsthand-events', 'ID of the topic, without projects/… in front.', {
      pattern: '^[A-Za-z][\\w.~+%\\-]{2,254}$',
      pattern_hint: 'the id of a topic',
    }),
    optionalText('region', 'Region', 'europe-west1', 'Publishes through the endpoint of this region. Needed for ordered delivery.', {
      pattern: '^[a-z]+-[a-z]+\\d+$',
      pattern_hint: 'a region such as europe-west1',
    }),
    ...SERVICE_ACCOUNT_FIELDS,
    select(
      'authentication',
      'Authentication',
      ['access_token', 'self_signed_jwt'],
      'access_token: the key is exchanged for a token at oauth2.googleapis.com. self_signed_jwt: no exchange, only pubsub.googleapis.com must be reachable.',
    ),
    optionalText('private_key_id', 'Private key ID', '0123456789abcdef0123456789abcdef01234567', 'private_key_id in the JSON key.', {
      required_when: { field: 'authentication', equals: 'self_signed_jwt' },
      pattern: '^[0-9a-f]{40}$',
      pattern_hint: 'the 40 characters of private_key_id',
    }),
    select(
      'ordering_key',
      'Ordering key',
      ['none', 'visitor'],
      'visitor: a subscription with message ordering gets the events of a visitor in order. none: up to 1,000 events per request.',
    ),
    VISITOR_ORDER,
  ],
  requests: [
    { ...publish(REGIONAL, true), name: 'regional_by_visitor', when: { all: [IN_REGION, BY_VISITOR] } },
    { ...publish(GLOBAL, true), name: 'by_visitor', when: BY_VISITOR },
    { ...publish(REGIONAL, false), name: 'regional', when: IN_REGION },
    { ...publish(GLOBAL, false), name: 'global' },
  ],
  default_action: 'pass_through',
  rate: { rps: 200 },
  concurrency: 8,
  variants: EVERY_EVENT,
});
