/** https://cloud.google.com/storage/docs/request-preconditions. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, select, text } from '../shared/fields.ts';
import { FILE_CONNECTION, FILE_FIELDS, FILE_NOTES, FILE_TRANSPORT, FILE_VARIANT } from '../shared/files.ts';
import { SERVICE_ACCOUNT_FIELDS } from '../shared/google.ts';

export default defineVendor({
  key: 'google_cloud_storage',
  name: 'Google Cloud Storage',
  description: 'Writes events as NDJSON, CSV or Parquet files into a bucket of Google Cloud Storage.',
  category: 'cloud_storage',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://cloud.google.com/storage/docs/json_api/v1/objects/insert',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'Create a bucket.',
    'Create a service account, grant it Storage Object Creator on the bucket, and add a key of the type JSON.',
    'Send an event and list the bucket: a file appears after the interval.',
  ],
  notes: [...FILE_NOTES, 'Writes are create-only (ifGenerationMatch=0), so the service account needs neither read nor delete permission.'],
  config_fields: [
    text('bucket', 'Bucket', 'acme-events', 'Name of the bucket, without gs://.', {
      pattern: '^[a-z0-9][a-z0-9._\\-]{1,220}[a-z0-9]$',
      pattern_hint: 'lower-case letters, digits, dots, dashes and underscores',
    }),
    ...SERVICE_ACCOUNT_FIELDS,
    select('storage_class', 'Storage class', ['STANDARD', 'NEARLINE', 'COLDLINE', 'ARCHIVE'], 'Of the objects written.'),
    optionalText(
      'endpoint',
      'Endpoint',
      'https://storage.example.com',
      'Replaces storage.googleapis.com and the token endpoint (proxies, tests).',
      {
        format: 'url',
      },
    ),
    ...FILE_FIELDS,
  ],
  transport: {
    kind: 'gcs',
    connection: {
      bucket: '{{parameters.bucket}}',
      client_email: '{{parameters.client_email}}',
      private_key: '{{parameters.private_key}}',
      storage_class: '{{parameters.storage_class}}',
      endpoint: '{{parameters.endpoint}}',
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
