import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalSecret, text } from '../shared/fields.ts';
import { EVERY_ROW, TABLE_NOTES, TABLE_SETTINGS, tableFields } from '../shared/tables.ts';

export default defineVendor({
  key: 'clickhouse',
  name: 'ClickHouse',
  description: 'Writes events to ClickHouse or ClickHouse Cloud: one table or Segment’s tables, with columns added by itself.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://clickhouse.com/docs/guides/developer/deduplicating-inserts-on-retries',
  setup_steps: [
    'Create a database and a user with SELECT, INSERT, CREATE TABLE and ALTER TABLE on it.',
    'Allow connections from the service to the HTTPS port (8443).',
    'Send an event and select it with FINAL.',
  ],
  notes: [
    'A batch carries a deduplication token made from its content, also after a crash, so it is stored once while the table remembers the token (the last 1,000 inserts). Older repeats are removed by ReplacingMergeTree when parts are merged: select with FINAL.',
    'Tables that you create yourself need a deduplication window: Replicated and Shared tables have one, MergeTree needs non_replicated_deduplication_window.',
    'users and accounts hold a row per event; the newest values are argMax(column, received_at).',
    ...TABLE_NOTES,
  ],
  config_fields: [
    text('url', 'URL', 'https://abc123.eu-central-1.aws.clickhouse.cloud:8443', 'Address of the HTTP interface, with its port.', {
      format: 'url',
    }),
    text('database', 'Database', 'analytics', 'The database of the tables.', {
      pattern: '^[^\\s`]{1,100}$',
      pattern_hint: 'the name of a database',
    }),
    text('username', 'User', 'firsthand', 'The user that writes.'),
    optionalSecret('password', 'Password', 'a-long-password', 'The password of the user.'),
    ...tableFields({ layout: 'segment', table: {} }),
  ],
  transport: {
    kind: 'clickhouse',
    connection: {
      url: '{{parameters.url}}',
      database: '{{parameters.database}}',
      username: '{{parameters.username}}',
      password: '{{parameters.password}}',
      ...TABLE_SETTINGS,
    },
    target: '{{parameters.table}}',
    batch: { max_items: 10_000, max_bytes: 10_000_000, interval_ms: 5_000 },
    sealed: true,
  },
  default_action: 'pass_through',
  // Every insert makes a part per table, and ClickHouse merges them: few large inserts.
  rate: { rps: 1, burst: 2 },
  concurrency: 1,
  timeout_ms: 60_000,
  variants: EVERY_ROW,
});
