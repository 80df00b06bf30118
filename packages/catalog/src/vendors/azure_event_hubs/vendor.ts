/** https://learn.microsoft.com/rest/api/eventhub/send-batch-events */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { secret, select, text } from '../shared/fields.ts';
import { EVERY_EVENT, VISITOR_ORDER } from '../shared/streams.ts';

const send = (name: string, headers: Record<string, string>): RequestDefinition => ({
  name,
  method: 'POST',
  url: 'https://{{parameters.namespace}}.servicebus.windows.net/{{parameters.event_hub}}/messages',
  query: { 'api-version': '2014-01', timeout: '60' },
  headers: { 'Content-Type': 'application/vnd.microsoft.servicebus.json', ...headers },
  auth: {
    kind: 'azure_service_bus_sas',
    resource: 'https://{{parameters.namespace}}.servicebus.windows.net/{{parameters.event_hub}}',
    key_name: '{{parameters.key_name}}',
    key: '{{parameters.key}}',
  },
  shape: { Body: { $json: 'payload' }, UserProperties: { event_id: '{{event.event_id}}' } },
  body: { kind: 'json_list' },
  batch: { max_items: 500, max_bytes: 900_000, interval_ms: 500 },
  answers: [
    { status: [401, 403, 404, 408, 410], verdict: 'unavailable', reason: 'body' },
    // A batch is stored whole or not at all.
    { status: [400, 413], verdict: 'refused', reason: 'body', isolate: true },
  ],
});

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
    'At least once: Event Hubs does not deduplicate. The property event_id lets a consumer drop repeats.',
    'Partition by visitor keeps the order of a visitor, but a batch holds one visitor only. For volume use the vendor kafka with the Kafka endpoint of the namespace.',
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
      ...send('by_visitor', { BrokerProperties: '{"PartitionKey":"{{item.visitor_sha256}}"}' }),
      when: { field: 'parameters.partition_by', op: 'eq', value: 'visitor' },
    },
    send('any_partition', {}),
  ],
  default_action: 'pass_through',
  rate: { rps: 200 },
  concurrency: 4,
  variants: EVERY_EVENT,
});
