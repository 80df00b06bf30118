import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalText, secret, select, text } from '../shared/fields.ts';
import { EVERY_ROW, TABLE_NOTES, TABLE_SETTINGS, tableFields } from '../shared/tables.ts';

export default defineVendor({
  key: 'mysql',
  name: 'MySQL',
  description:
    'Writes events to MySQL or MariaDB: one table or Segment’s tables. Adds columns by itself; an event that comes again replaces its row.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://dev.mysql.com/doc/refman/8.4/en/insert-on-duplicate.html',
  setup_steps: [
    'Create a database with the character set utf8mb4, and a user with SELECT, INSERT, UPDATE, CREATE and ALTER on it.',
    'Allow connections from the service, with TLS unless the network is private.',
    'Send an event and select it from tracks or pages.',
  ],
  notes: [
    'A batch is one transaction, and the key makes a repeat harmless: every event is stored exactly once.',
    'Times are UTC in columns of the type datetime(3). JSON is stored as longtext.',
    'A table that you create yourself needs a unique event_id column (id in the layout segment).',
    ...TABLE_NOTES,
  ],
  config_fields: [
    text('host', 'Host', 'db.example.com', 'Name of the server.', {
      pattern: '^[^\\s/:]{1,253}$',
      pattern_hint: 'a host name without a port',
    }),
    optionalText('port', 'Port', '3306', 'Port of the server.', { default: '3306', pattern: '^\\d{1,5}$', pattern_hint: 'a port' }),
    text('username', 'User', 'firsthand', 'The user that writes.'),
    secret('password', 'Password', 'a-long-password', 'The password of the user.'),
    text('database', 'Database', 'analytics', 'The database of the tables.'),
    select(
      'tls',
      'TLS',
      ['verify', 'require', 'disable'],
      'verify checks the certificate and its host name (with an address, that your CA signed it); require encrypts without checking.',
    ),
    optionalText(
      'ca',
      'CA certificate',
      '-----BEGIN CERTIFICATE-----',
      'PEM text of the authority that signed the certificate of the server, where it is not a public one.',
      { multiline: true },
    ),
    ...tableFields({ layout: 'segment', table: {} }),
  ],
  transport: {
    kind: 'mysql',
    connection: {
      host: '{{parameters.host}}',
      port: '{{parameters.port}}',
      username: '{{parameters.username}}',
      password: '{{parameters.password}}',
      database: '{{parameters.database}}',
      ssl: '{{parameters.tls}}',
      ca: '{{parameters.ca}}',
      ...TABLE_SETTINGS,
    },
    target: '{{parameters.table}}',
    batch: { max_items: 2_000, max_bytes: 5_000_000, interval_ms: 5_000 },
  },
  default_action: 'pass_through',
  rate: { rps: 20 },
  concurrency: 2,
  variants: EVERY_ROW,
});
