/** https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { optionalText, text } from '../shared/fields.ts';
import { SERVICE_ACCOUNT_FIELDS } from '../shared/google.ts';
import { EVERY_EVENT, VISITOR_ORDER } from '../shared/streams.ts';

const publish = (name: string, host: string): RequestDefinition => ({
  name,
  method: 'POST',
  url: `https://${host}/v1/projects/{{parameters.project}}/topics/{{parameters.topic}}:publish`,
  auth: {
    kind: 'google_service_account',
    token_url: 'https://oauth2.googleapis.com/token',
    client_email: '{{parameters.client_email}}',
    private_key: '{{parameters.private_key}}',
    scope: 'https://www.googleapis.com/auth/pubsub',
  },
  shape: {
    data: { $base64: 'payload' },
    attributes: { event_id: '{{item.id}}', type: '{{event.type}}' },
    orderingKey: '{{item.visitor_sha256}}',
  },
  body: { kind: 'json_list', under: 'messages' },
  batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 200 },
  answers: [
    // All or nothing: one bad message fails the request.
    { status: [400], verdict: 'refused', reason: 'body.error.message', isolate: true },
    { status: [403, 404, 408, 409, 499], verdict: 'unavailable', reason: 'body.error.message' },
  ],
});

export default defineVendor({
  key: 'google_pubsub',
  name: 'Google Cloud Pub/Sub',
  description: 'Publishes events to a topic, with the visitor as ordering key.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish',
  setup_steps: [
    'Create a topic and a subscription; enable message ordering on the subscription if the order matters.',
    'Create a service account with the role Pub/Sub Publisher on the topic, and a JSON key for it.',
    'Send an event and pull it from the subscription.',
  ],
  notes: [
    'At least once: Pub/Sub does not deduplicate what is published. The attribute event_id lets a subscriber drop repeats.',
    'Events of one visitor have the same ordering key. Google keeps their order only within one region: name it.',
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
    VISITOR_ORDER,
  ],
  requests: [
    { ...publish('regional', '{{parameters.region}}-pubsub.googleapis.com'), when: { field: 'parameters.region', op: 'exists' } },
    publish('global', 'pubsub.googleapis.com'),
  ],
  default_action: 'pass_through',
  rate: { rps: 200 },
  concurrency: 2,
  variants: EVERY_EVENT,
});
