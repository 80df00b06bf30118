/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { AWS_ERRORS, awsAuth, awsFields, RETRIED } from '../shared/aws.ts';
import { optionalText } from '../shared/fields.ts';
import { EVERY_EVENT } from '../shared/streams.ts';

const put = (name: string, detailType: string): RequestDefinition => ({
  name,
  method: 'POST',
  url: 'https://events.{{parameters.region}}.amazonaws.com/',
  headers: { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': 'AWSEvents.PutEvents' },
  auth: awsAuth('events'),
  shape: {
    Source: '{{parameters.source}}',
    DetailType: detailType,
    Detail: { $json: 'payload' },
    EventBusName: '{{parameters.event_bus}}',
  },
  body: { kind: 'json_list', under: 'Entries' },
  batch: { max_items: 10, max_bytes: 1_000_000, interval_ms: 200 },
  answers: [
    {
      status: [200],
      when: { field: 'body.FailedEntryCount', op: 'gt', value: 0 },
      verdict: 'partial',
      partial: {
        results: 'body.Entries',
        accepted: { field: 'ErrorCode', op: 'not_exists' },
        reason: 'ErrorCode',
        failed: 'unavailable',
        permanent: { not: { field: 'ErrorCode', op: 'matches', value: RETRIED } },
        others: 'delivered',
      },
    },
    ...AWS_ERRORS,
  ],
});

export default defineVendor({
  key: 'amazon_eventbridge',
  name: 'Amazon EventBridge',
  description: 'Puts events on an event bus, with the event name as detail type.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html',
  setup_steps: [
    'Create an event bus, or use the default one, and a rule that matches the source.',
    'Create an IAM user or role with events:PutEvents on the bus, and an access key for it.',
    'Send an event and look at the target of the rule.',
  ],
  notes: [
    'At least once, in any order: EventBridge does not deduplicate. The detail holds its event_id.',
    'EventBridge accepts events for a bus that does not exist and drops them: check the name.',
  ],
  config_fields: [
    optionalText('event_bus', 'Event bus', 'firsthand', 'Name or ARN of the bus.', {
      default: 'default',
      pattern: '^[\\w.:/\\-]{1,256}$',
      pattern_hint: 'a name or an ARN',
    }),
    optionalText('source', 'Source', 'com.example.firsthand', 'The source of the entries, which rules match.', {
      default: 'firsthand',
      pattern: '^(?!aws\\.)\\S{1,256}$',
      pattern_hint: 'a name that does not begin with aws.',
    }),
    ...awsFields('event bus', 'put events on the bus'),
  ],
  requests: [
    { ...put('named', '{{event.event}}'), when: { field: 'event.event', op: 'matches', value: '^.{1,128}$' } },
    put('unnamed', '{{event.type}}'),
  ],
  default_action: 'pass_through',
  rate: { rps: 200 },
  concurrency: 4,
  variants: EVERY_EVENT,
});
