/** https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { AWS_ERRORS, awsAuth, awsFields, failedRecords } from '../shared/aws.ts';
import { text } from '../shared/fields.ts';
import { EVERY_EVENT } from '../shared/streams.ts';

export default defineVendor({
  key: 'amazon_firehose',
  name: 'Amazon Data Firehose',
  description: 'Puts events as lines of JSON into a delivery stream.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.aws.amazon.com/firehose/latest/APIReference/API_PutRecordBatch.html',
  setup_steps: [
    'Create a Firehose stream with the source Direct PUT.',
    'Create an IAM user or role with firehose:PutRecordBatch on the stream, and an access key for it.',
    'Send an event and wait for the buffer interval of the stream.',
  ],
  notes: ['At least once, in any order: Firehose does not deduplicate. Each line holds its event_id.', 'A record may have 1,000 KiB.'],
  config_fields: [
    text('stream', 'Firehose stream', 'firsthand-events', 'Name of the stream.', {
      pattern: '^[\\w.\\-]{1,64}$',
      pattern_hint: 'letters, digits, dots, hyphens and underscores',
    }),
    ...awsFields('stream', 'put records into the stream'),
  ],
  request: {
    method: 'POST',
    url: 'https://firehose.{{parameters.region}}.amazonaws.com/',
    headers: { 'Content-Type': 'application/x-amz-json-1.1', 'X-Amz-Target': 'Firehose_20150804.PutRecordBatch' },
    auth: awsAuth('firehose'),
    // Firehose concatenates records: the line break keeps them apart.
    shape: { Data: { $base64: 'payload', suffix: '\n' } },
    body: { kind: 'json_list', under: 'Records', common: { DeliveryStreamName: '{{parameters.stream}}' } },
    batch: { max_items: 500, max_bytes: 4_000_000, interval_ms: 1_000 },
    answers: [failedRecords('FailedPutCount', 'RequestResponses'), ...AWS_ERRORS],
  },
  default_action: 'pass_through',
  rate: { rps: 200 },
  concurrency: 4,
  variants: EVERY_EVENT,
});
