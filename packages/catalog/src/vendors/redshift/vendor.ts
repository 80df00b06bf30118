import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { awsFields } from '../shared/aws.ts';
import { optionalText, select, text } from '../shared/fields.ts';
import { EVERY_ROW, TABLE_NOTES, TABLE_SETTINGS, tableFields } from '../shared/tables.ts';

export default defineVendor({
  key: 'redshift',
  name: 'Amazon Redshift',
  description: 'Copies events through S3 into one table or Segment’s tables, with columns added by itself.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.aws.amazon.com/redshift/latest/mgmt/data-api.html',
  setup_steps: [
    'Create a bucket in the region of the cluster, with a rule that deletes its objects after a few days.',
    'Give the cluster or the namespace an IAM role with s3:GetObject on the bucket.',
    'Create an access key with s3:PutObject on the bucket, redshift-data:* and redshift-serverless:GetCredentials, or redshift:GetClusterCredentials for a cluster.',
    'Let its database user create tables in the schema. Send an event and select it from tracks or pages.',
  ],
  notes: [
    'Exactly once: a transaction copies the file to a temporary table and replaces the rows by the id of the event.',
    'Statements go through the Data API: the cluster needs no public address.',
    'Texts are cut at 65,535 bytes, the longest that Redshift stores.',
    ...TABLE_NOTES,
  ],
  config_fields: [
    ...awsFields('cluster and the bucket', 'use the Data API and put objects into the bucket'),
    select('deployment', 'Deployment', ['serverless', 'cluster'], 'serverless: a workgroup. cluster: a provisioned cluster.'),
    optionalText('workgroup', 'Workgroup', 'analytics', 'Of Redshift Serverless.', {
      required_when: { field: 'deployment', equals: 'serverless' },
    }),
    optionalText('cluster', 'Cluster', 'analytics-1', 'Identifier of the provisioned cluster.', {
      required_when: { field: 'deployment', equals: 'cluster' },
    }),
    optionalText('db_user', 'Database user', 'firsthand', 'Of the provisioned cluster.', {
      required_when: { field: 'deployment', equals: 'cluster' },
    }),
    text('database', 'Database', 'dev', 'The database of the tables.'),
    optionalText('schema', 'Schema', 'firsthand', 'The schema of the tables; created when it does not exist.', { default: 'public' }),
    text('bucket', 'Bucket', 'acme-redshift-staging', 'The bucket for the files, in the region of the cluster.', {
      pattern: '^[a-z0-9][a-z0-9.\\-]{1,61}[a-z0-9]$',
      pattern_hint: 'a bucket name of 3 to 63 lower-case letters, digits, dots and hyphens',
    }),
    optionalText('prefix', 'Prefix', 'firsthand/', 'Folder of the files in the bucket.', { default: 'firsthand/' }),
    text(
      'iam_role',
      'IAM role',
      'arn:aws:iam::123456789012:role/redshift-copy',
      'The role with which Redshift reads the bucket; default: the default role of the cluster or namespace.',
      {
        pattern: '^(?:arn:[a-z\\-]+:iam::\\d{12}:role/\\S+|default)$',
        pattern_hint: 'the ARN of a role, or default',
      },
    ),
    ...tableFields({ layout: 'segment', table: {} }),
  ],
  transport: {
    kind: 'redshift',
    connection: {
      region: '{{parameters.region}}',
      access_key_id: '{{parameters.access_key_id}}',
      secret_access_key: '{{parameters.secret_access_key}}',
      session_token: '{{parameters.session_token}}',
      workgroup: '{{parameters.workgroup}}',
      cluster: '{{parameters.cluster}}',
      db_user: '{{parameters.db_user}}',
      database: '{{parameters.database}}',
      schema: '{{parameters.schema}}',
      bucket: '{{parameters.bucket}}',
      prefix: '{{parameters.prefix}}',
      iam_role: '{{parameters.iam_role}}',
      endpoint: '{{parameters.endpoint}}',
      ...TABLE_SETTINGS,
    },
    target: '{{parameters.table}}',
    batch: { max_items: 10_000, max_bytes: 20_000_000, interval_ms: 60_000 },
  },
  default_action: 'pass_through',
  rate: { rps: 1 },
  concurrency: 1,
  timeout_ms: 300_000,
  variants: EVERY_ROW,
});
