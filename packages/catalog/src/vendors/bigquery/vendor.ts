import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, secret, select, text } from '../shared/fields.ts';
import { EVERY_ROW, PEM_EXAMPLE, PRIVATE_KEY, TABLE_NOTES, TABLE_SETTINGS, tableFields } from '../shared/tables.ts';

export default defineVendor({
  key: 'bigquery',
  name: 'BigQuery',
  description: 'Writes events to a dataset: one table or Segment’s tables, streamed or in free load jobs, with columns added by itself.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://cloud.google.com/bigquery/docs/reference/rest/v2/tabledata/insertAll',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: [
    'Enable the BigQuery API and create a dataset in the region of your choice.',
    'Create a service account with the role BigQuery Data Editor on the dataset, and BigQuery Job User on the project for load jobs. Add a key of the type JSON.',
    'Choose load for volume and lower cost, stream for rows within seconds. Streaming needs a project with billing.',
    'Send an event and select it from tracks or pages.',
  ],
  notes: [
    'stream: set batch_interval_ms to 5000 for rows within seconds. At least once: BigQuery removes repeats for about a minute by the event id; remove later ones in a view by id.',
    'load: a batch is loaded exactly once, because the id of its job is made from its content. BigQuery allows 1,500 load jobs per table and day, so the interval is one minute.',
    'A column that was just added is refused by the streaming servers for some minutes; those rows are tried again.',
    'users and accounts hold a row per event; the newest one counts.',
    ...TABLE_NOTES,
  ],
  config_fields: [
    text('project_id', 'Project ID', 'acme-analytics', 'project_id in the JSON key.', {
      pattern: '^[a-z][a-z0-9:.\\-]{4,62}$',
      pattern_hint: 'a project id',
    }),
    text('dataset', 'Dataset', 'firsthand', 'The dataset of the tables.', {
      pattern: '^[A-Za-z0-9_]{1,1024}$',
      pattern_hint: 'letters, digits and underscores',
    }),
    text('client_email', 'Service account', 'writer@acme-analytics.iam.gserviceaccount.com', 'client_email in the JSON key.'),
    secret('private_key', 'Private key', PEM_EXAMPLE, 'private_key in the JSON key.', PRIVATE_KEY),
    select('method', 'Method', ['stream', 'load'], 'stream: rows within seconds, billed by volume. load: free jobs, rows within minutes.'),
    optionalText('location', 'Location', 'EU', 'The location of the dataset; needed by load outside of the US and EU.'),
    ...tableFields({ layout: 'segment', table: {} }),
  ],
  transport: {
    kind: 'bigquery',
    connection: {
      project_id: '{{parameters.project_id}}',
      dataset: '{{parameters.dataset}}',
      client_email: '{{parameters.client_email}}',
      private_key: '{{parameters.private_key}}',
      method: '{{parameters.method}}',
      location: '{{parameters.location}}',
      endpoint: '{{parameters.endpoint}}',
      ...TABLE_SETTINGS,
    },
    target: '{{parameters.table}}',
    batch: { max_items: 10_000, max_bytes: 8_000_000, interval_ms: 60_000 },
    sealed: true,
  },
  default_action: 'pass_through',
  rate: { rps: 5 },
  concurrency: 1,
  timeout_ms: 300_000,
  variants: EVERY_ROW,
});
