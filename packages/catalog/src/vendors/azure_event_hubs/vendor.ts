/** https://learn.microsoft.com/rest/api/eventhub/send-batch-events, …/send-event and, for the partition key, …/event-hubs-runtime-rest. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { secret, select, text } from '../shared/fields.ts';
import { EVERY_EVENT, VISITOR_ORDER } from '../shared/streams.ts';

const HUB = 'https://{{parameters.namespace}}.servicebus.windows.net/{{parameters.event_hub}}';
const post: Pick<RequestDefinition, 'method' | 'url' | 'query' | 'auth' | 'answers'> = {
  method: 'POST',
  url: `${HUB}/messages`,
  query: { 'api-version': '2014-01', timeout: '60' },
  auth: { kind: 'azure_service_bus_sas', resource: HUB, key_name: '{{parameters.key_name}}', key: '{{parameters.key}}' },
  answers: [
    { status: [401, 403, 404, 408, 410], verdict: 'unavailable', reason: 'body' },
    // A batch is stored whole or not at all.
    { status: [400, 413], verdict: 'refused', reason: 'body', isolate: true },
  ],
};

export default defineVendor({
  key: 'azure_event_hubs',
  name: 'Azure Event Hubs',
  description: 'Sends events in batches to an event hub over HTTPS.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://learn.microsoft.com/rest/api/eventhub/send-batch-events',
  api_version: { version: '2014-01', checked: '2026-11-16' },
  setup_steps: [
    'Create an Event Hubs namespace and an event hub.',
    'Add a shared access policy with the claim Send to the hub, and copy its name and primary key.',
    'Send an event and look at the hub in the Data Explorer.',
  ],
  notes: [
    'At least once: Event Hubs does not deduplicate. The event_id in the body, in batches also a property, lets a consumer drop repeats.',
    'Partition by visitor keeps the order of a visitor, with a request per event: Event Hubs ignores the partition key of a batch. For volume use the vendor kafka with the Kafka endpoint of the namespace.',
    'A batch may have 1 MB, 256 KB in the Basic tier.',
  ],
  config_fields: [
    text('namespace', 'Namespace', 'acme-events', 'Name of the namespace, without .servicebus.windows.net.', {
      pattern: '^[A-Za-z][A-Za-z0-9\\-]{4,48}[A-Za-z0-9]$',
      pattern_hint: '6 to 50 letters, digits and hyphens',
    }),
    text('event_hub', 'Event hub', 'firsthand', 'Name of the event hub.', {
      pattern: '^[A-Za-z0-9][\\w.\\-]{0,254}$',
      pattern_hint: 'the name of an event hub',
    }),
    text('key_name', 'Policy name', 'firsthand-send', 'Of a shared access policy with the claim Send.', {
      pattern: '^[\\w.\\-]{1,256}$',
      pattern_hint: 'the name of a policy',
    }),
    secret('key', 'Policy key', 'c2VjcmV0IGtleSBvZiB0aGUgcG9saWN5', 'Primary or secondary key of the policy.'),
    select('partition_by', 'Partition by', ['none', 'visitor'], 'visitor: events of a visitor share a partition.'),
    VISITOR_ORDER,
  ],
  requests: [
    {
      ...post,
      name: 'by_visitor',
      when: { field: 'parameters.partition_by', op: 'eq', value: 'visitor' },
      // Event Hubs ignores the header for a batch, so each event is a request of its own.
      headers: {
        'Content-Type': 'application/atom+xml;type=entry;charset=utf-8',
        BrokerProperties: '{"PartitionKey":"{{item.visitor_sha256}}"}',
      },
      body: { kind: 'json' },
    },
    {
      ...post,
      name: 'any_partition',
      headers: { 'Content-Type': 'application/vnd.microsoft.servicebus.json' },
      shape: { Body: { $json: 'payload' }, UserProperties: { event_id: '{{event.event_id}}' } },
      body: { kind: 'json_list' },
      batch: { max_items: 500, max_bytes: 900_000, interval_ms: 500 },
    },
  ],
  default_action: 'pass_through',
  rate: { rps: 200 },
  concurrency: 4,
  variants: EVERY_EVENT,
});
