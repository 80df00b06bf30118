/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { AWS_ERRORS, awsAuth, awsFields, RETRIED } from '../shared/aws.ts';
import { text } from '../shared/fields.ts';
import { EVERY_EVENT, VISITOR_ORDER } from '../shared/streams.ts';

const entry = {
  MessageBody: { $json: 'payload' },
  MessageAttributes: { event_id: { DataType: 'String', StringValue: '{{event.event_id}}' } },
};

const send = (name: string, shape: NonNullable<RequestDefinition['shape']>): RequestDefinition => ({
  name,
  method: 'POST',
  url: 'https://sqs.{{parameters.region}}.amazonaws.com/',
  headers: { 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'AmazonSQS.SendMessageBatch' },
  auth: awsAuth('sqs'),
  shape,
  index_field: { name: 'Id', type: 'string' },
  body: { kind: 'json_list', under: 'Entries', common: { QueueUrl: '{{parameters.queue_url}}' } },
  batch: { max_items: 10, max_bytes: 1_000_000, interval_ms: 200 },
  answers: [
    {
      status: [200],
      when: { field: 'body.Failed', op: 'exists' },
      verdict: 'partial',
      partial: {
        errors: 'body.Failed',
        index: 'Id',
        reason: 'Code',
        failed: 'unavailable',
        permanent: { all: [{ field: 'SenderFault', op: 'eq', value: true }, { not: { field: 'Code', op: 'matches', value: RETRIED } }] },
        others: 'delivered',
      },
    },
    ...AWS_ERRORS,
  ],
});

export default defineVendor({
  key: 'amazon_sqs',
  name: 'Amazon SQS',
  description: 'Sends events as messages to a standard or FIFO queue.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html',
  setup_steps: [
    'Create a queue; a FIFO queue if the order matters.',
    'Create an IAM user or role with sqs:SendMessage on the queue, and an access key for it.',
    'Send an event and poll for messages in the console.',
  ],
  notes: [
    'FIFO queues: exactly once within five minutes (deduplication by event id), and in order per visitor (message group).',
    'Standard queues: at least once, in any order. The attribute event_id lets a consumer drop repeats.',
    'A message may have 1 MiB.',
  ],
  config_fields: [
    text(
      'queue_url',
      'Queue URL',
      'https://sqs.eu-central-1.amazonaws.com/123456789012/firsthand-events.fifo',
      'URL of the queue. FIFO queues end in .fifo.',
      {
        pattern: '^https?://\\S+/\\d{12}/[\\w\\-]{1,80}(\\.fifo)?$',
        pattern_hint: 'the URL of a queue, with account and name',
      },
    ),
    ...awsFields('queue', 'send messages to the queue'),
    VISITOR_ORDER,
  ],
  requests: [
    {
      ...send('fifo', { ...entry, MessageGroupId: '{{item.visitor_sha256}}', MessageDeduplicationId: '{{item.id_sha256}}' }),
      when: { field: 'parameters.queue_url', op: 'ends_with', value: '.fifo' },
    },
    send('standard', entry),
  ],
  default_action: 'pass_through',
  rate: { rps: 250 },
  concurrency: 8,
  variants: EVERY_EVENT,
});
