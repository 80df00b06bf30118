/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { awsKeyFields } from '../shared/aws.ts';
import { flag, optionalText, select, text } from '../shared/fields.ts';
import { FILE_CONNECTION, FILE_FIELDS, FILE_NOTES, FILE_TRANSPORT, FILE_VARIANT } from '../shared/files.ts';

export default defineVendor({
  key: 'amazon_s3',
  name: 'Amazon S3',
  description: 'Writes events as NDJSON, CSV or Parquet files into a bucket of Amazon S3 or a compatible store.',
  category: 'cloud_storage',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html',
  setup_steps: [
    'Create a bucket.',
    "Create an IAM user or role with s3:PutObject on the bucket's prefix, and an access key for it.",
    'Send an event and list the bucket: a file appears after the interval.',
  ],
  notes: [
    ...FILE_NOTES,
    'Writes are create-only (If-None-Match). A store without conditional writes is asked for the object first, which needs s3:GetObject and s3:ListBucket.',
  ],
  config_fields: [
    text('bucket', 'Bucket', 'acme-events', 'Name of the bucket.', {
      pattern: '^[a-z0-9][a-z0-9.\\-]{1,61}[a-z0-9]$',
      pattern_hint: 'a bucket name of 3 to 63 lower-case letters, digits, dots and hyphens',
    }),
    text('region', 'Region', 'eu-central-1', 'Region of the bucket; auto for stores without regions.', {
      pattern: '^[a-z]{2}(-[a-z]+)+-\\d$|^auto$',
      pattern_hint: 'a region such as eu-central-1',
    }),
    ...awsKeyFields('put objects into the bucket'),
    optionalText(
      'endpoint',
      'Endpoint',
      'https://s3.example.com',
      'Address of a compatible store (MinIO, R2, Spaces, Wasabi). Empty for AWS.',
      {
        format: 'url',
      },
    ),
    select(
      'storage_class',
      'Storage class',
      ['STANDARD', 'STANDARD_IA', 'INTELLIGENT_TIERING', 'ONEZONE_IA', 'GLACIER_IR'],
      'Of the objects written.',
    ),
    flag(
      'without_conditional_writes',
      'No conditional writes',
      'Only for a compatible store that ignores If-None-Match instead of rejecting it.',
    ),
    ...FILE_FIELDS,
  ],
  transport: {
    kind: 's3',
    connection: {
      bucket: '{{parameters.bucket}}',
      region: '{{parameters.region}}',
      access_key_id: '{{parameters.access_key_id}}',
      secret_access_key: '{{parameters.secret_access_key}}',
      session_token: '{{parameters.session_token}}',
      endpoint: '{{parameters.endpoint}}',
      storage_class: '{{parameters.storage_class}}',
      without_conditional_writes: '{{parameters.without_conditional_writes}}',
      ...FILE_CONNECTION,
    },
    ...FILE_TRANSPORT,
  },
  default_action: 'pass_through',
  timeout_ms: 120_000,
  rate: { rps: 100, burst: 200 },
  concurrency: 4,
  variants: [FILE_VARIANT],
});
