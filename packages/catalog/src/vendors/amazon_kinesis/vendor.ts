/** https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { AWS_ERRORS, awsAuth, awsFields, failedRecords } from '../shared/aws.ts';
import { text } from '../shared/fields.ts';
import { EVERY_EVENT, VISITOR_ORDER } from '../shared/streams.ts';

export default defineVendor({
  key: 'amazon_kinesis',
  name: 'Amazon Kinesis Data Streams',
  description: 'Puts events as records into a stream, partitioned by visitor.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html',
  setup_steps: [
    'Create a data stream.',
    'Create an IAM user or role with kinesis:PutRecords on the stream, and an access key for it.',
    'Send an event and read the stream in the data viewer of the console.',
  ],
  notes: [
    'At least once: Kinesis does not deduplicate. Each record holds its event_id.',
    'Records of one visitor share a shard and keep their order with the delivery order visitor.',
    'A record may have 1 MiB unless the stream allows more.',
  ],
  config_fields: [
    text('stream', 'Stream name', 'firsthand-events', 'Name of the data stream.', {
      pattern: '^[\\w.\\-]{1,128}$',
      pattern_hint: 'letters, digits, dots, hyphens and underscores',
    }),
    ...awsFields('stream', 'put records into the stream'),
    VISITOR_ORDER,
  ],
  request: {
    method: 'POST',
    url: 'https://kinesis.{{parameters.region}}.amazonaws.com/',
    headers: { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': 'Kinesis_20131202.PutRecords' },
    auth: awsAuth('kinesis'),
    shape: { Data: { $base64: 'payload' }, PartitionKey: '{{item.visitor_sha256}}' },
    body: { kind: 'json_list', under: 'Records', common: { StreamName: '{{parameters.stream}}' } },
    batch: { max_items: 500, max_bytes: 5_000_000, interval_ms: 500 },
    answers: [failedRecords('FailedRecordCount', 'Records'), ...AWS_ERRORS],
  },
  default_action: 'pass_through',
  rate: { rps: 200 },
  concurrency: 2,
  variants: EVERY_EVENT,
});
