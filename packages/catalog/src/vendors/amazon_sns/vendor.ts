/** https://docs.aws.amazon.com/sns/latest/api/API_Publish.html */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { AWS_RETRIES, awsAuth, awsFields } from '../shared/aws.ts';
import { text } from '../shared/fields.ts';
import { EVERY_EVENT, VISITOR_ORDER } from '../shared/streams.ts';

const message = {
  Action: 'Publish',
  Version: '2010-03-31',
  TopicArn: '{{parameters.topic_arn}}',
  Message: { $json: 'payload' },
  // Filter policies of subscriptions read attributes.
  'MessageAttributes.entry.1.Name': 'type',
  'MessageAttributes.entry.1.Value.DataType': 'String',
  'MessageAttributes.entry.1.Value.StringValue': '{{event.type}}',
  'MessageAttributes.entry.2.Name': 'event_id',
  'MessageAttributes.entry.2.Value.DataType': 'String',
  'MessageAttributes.entry.2.Value.StringValue': '{{event.event_id}}',
};

const publish = (name: string, shape: NonNullable<RequestDefinition['shape']>): RequestDefinition => ({
  name,
  method: 'POST',
  url: 'https://sns.{{parameters.region}}.amazonaws.com/',
  auth: awsAuth('sns'),
  shape,
  body: { kind: 'form' },
  answers: AWS_RETRIES,
});

export default defineVendor({
  key: 'amazon_sns',
  name: 'Amazon SNS',
  description: 'Publishes events to a standard or FIFO topic.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.aws.amazon.com/sns/latest/api/API_Publish.html',
  setup_steps: [
    'Create a topic and subscribe a queue or an endpoint to it.',
    'Create an IAM user or role with sns:Publish on the topic, and an access key for it.',
    'Send an event and read it at the subscription.',
  ],
  notes: [
    'FIFO topics: exactly once within five minutes (deduplication by event id), and in order per visitor (message group).',
    'Standard topics: at least once, in any order.',
    'One request per event. A message may have 256 KiB unless the topic allows more.',
  ],
  config_fields: [
    text(
      'topic_arn',
      'Topic ARN',
      'arn:aws:sns:eu-central-1:123456789012:firsthand-events',
      'ARN of the topic. FIFO topics end in .fifo.',
      {
        pattern: '^arn:aws[\\w\\-]*:sns:[\\w\\-]+:\\d{12}:[\\w\\-]{1,256}(\\.fifo)?$',
        pattern_hint: 'the ARN of a topic',
      },
    ),
    ...awsFields('topic', 'publish to the topic'),
    VISITOR_ORDER,
  ],
  requests: [
    {
      ...publish('fifo', { ...message, MessageGroupId: '{{item.visitor_sha256}}', MessageDeduplicationId: '{{item.id_sha256}}' }),
      when: { field: 'parameters.topic_arn', op: 'ends_with', value: '.fifo' },
    },
    publish('standard', message),
  ],
  default_action: 'pass_through',
  rate: { rps: 250 },
  concurrency: 16,
  variants: EVERY_EVENT,
});
