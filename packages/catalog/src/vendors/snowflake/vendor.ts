import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, secret, text } from '../shared/fields.ts';
import { EVERY_ROW, PEM_EXAMPLE, PRIVATE_KEY, TABLE_NOTES, TABLE_SETTINGS, tableFields } from '../shared/tables.ts';

export default defineVendor({
  key: 'snowflake',
  name: 'Snowflake',
  description: 'Streams events with Snowpipe Streaming into one table or Segment’s tables, with columns added by itself.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.snowflake.com/en/user-guide/snowpipe-streaming/snowpipe-streaming-high-performance-overview',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: [
    'Create a database, a schema and a user of the type SERVICE, and a role with USAGE on both, CREATE TABLE and CREATE PIPE on the schema and OWNERSHIP of its tables. Make it the default role of the user.',
    'Make a key pair: openssl genrsa 2048 | openssl pkcs8 -topk8 -nocrypt -out key.p8, and openssl rsa -in key.p8 -pubout.',
    'ALTER USER … SET RSA_PUBLIC_KEY with the public key. To rotate it later set RSA_PUBLIC_KEY_2, change the key here, then unset the first one.',
    'Send an event and select it from TRACKS or PAGES.',
  ],
  notes: [
    'Exactly once: rows go to a named channel, and the offset token of the channel names the last batches. A batch that comes again, also after a crash, is recognised.',
    'Two integrations that write to the same tables need different channels.',
    'Names are upper-case, so queries need no quotes. users and accounts hold a row per event; the newest one counts.',
    ...TABLE_NOTES,
  ],
  config_fields: [
    text(
      'account',
      'Account identifier',
      'ACMEORG-ANALYTICS',
      'Organisation and account with a hyphen, as in the address before .snowflakecomputing.com.',
      {
        pattern: '^[A-Za-z0-9_.\\-]{3,200}$',
        pattern_hint: 'an account identifier without https://',
      },
    ),
    text('user', 'User', 'FIRSTHAND', 'The user with the public key.'),
    secret('private_key', 'Private key', PEM_EXAMPLE, 'The private key of the pair, without a passphrase.', PRIVATE_KEY),
    text('database', 'Database', 'ANALYTICS', 'The database of the tables, in upper case unless it was made with quotes.'),
    text('schema', 'Schema', 'FIRSTHAND', 'The schema of the tables, in upper case unless it was made with quotes.'),
    optionalText('role', 'Role', 'FIRSTHAND_WRITER', 'The role that makes and changes tables; the default role of the user otherwise.'),
    optionalText(
      'channel',
      'Channel',
      'FIRSTHAND',
      'The name of the channel; different for each integration that writes to the same tables.',
      {
        default: 'FIRSTHAND',
        pattern: '^[A-Za-z0-9_]{1,100}$',
        pattern_hint: 'letters, digits and underscores',
      },
    ),
    ...tableFields({ layout: 'segment', table: {} }),
  ],
  transport: {
    kind: 'snowflake',
    connection: {
      account: '{{parameters.account}}',
      user: '{{parameters.user}}',
      private_key: '{{parameters.private_key}}',
      database: '{{parameters.database}}',
      schema: '{{parameters.schema}}',
      role: '{{parameters.role}}',
      channel: '{{parameters.channel}}',
      endpoint: '{{parameters.endpoint}}',
      ...TABLE_SETTINGS,
    },
    target: '{{parameters.table}}',
    // The limit of a request is 4 MB; rows of Segment's layout are larger than their event.
    batch: { max_items: 5_000, max_bytes: 1_500_000, interval_ms: 5_000 },
    sealed: true,
  },
  default_action: 'pass_through',
  rate: { rps: 5 },
  concurrency: 1,
  timeout_ms: 120_000,
  variants: EVERY_ROW,
});
