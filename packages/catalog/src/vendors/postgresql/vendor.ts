import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { TABLE_NOTES, TABLE_SETTINGS, tableFields } from '../shared/tables.ts';

export default defineVendor({
  key: 'postgresql',
  name: 'PostgreSQL',
  description: 'Writes events to one table or to Segment’s tables. Adds columns by itself; an event that comes again replaces its row.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://www.postgresql.org/docs/current/sql-insert.html',
  setup_steps: [
    'Create a role that may select, insert and update, and that owns the tables (or may create them in the schema), so that it can add columns.',
    'Allow connections from the service, with TLS unless the network is private.',
    'Choose the layout. For dbt models made for Segment choose segment and a schema per pipeline.',
    'Send an event and select it by event_id (id in the layout segment).',
  ],
  notes: [
    'A batch is one transaction, and the key makes a repeat harmless: every event is stored exactly once.',
    'A table that you create yourself needs a unique event_id column (id in the layout segment).',
    ...TABLE_NOTES,
  ],
  config_fields: [
    {
      key: 'url',
      label: 'Connection URL',
      type: 'secret',
      required: true,
      placeholder: 'postgres://writer:secret@db.example.com:5432/events',
      help_text: 'With user, password, host, port and database.',
    },
    ...tableFields({
      layout: 'payload',
      table: {
        placeholder: 'public.events',
        help_text: 'A table, or schema and table with a dot. For the layouts events and payload.',
        pattern: '^[^.\\s]{1,63}(\\.[^.\\s]{1,63})?$',
        pattern_hint: 'table or schema.table',
      },
    }),
    {
      key: 'schema',
      label: 'Schema',
      type: 'string',
      required: false,
      placeholder: 'firsthand',
      help_text: 'The schema of the layout segment; created when it does not exist. Empty: the first one of the search path.',
      pattern: '^[^.\\s]{1,63}$',
      pattern_hint: 'the name of a schema',
    },
    {
      key: 'tls',
      label: 'TLS',
      type: 'select',
      required: false,
      placeholder: 'verify',
      help_text: 'verify checks the certificate; require encrypts without checking it.',
      options: ['verify', 'require', 'disable'],
      default: 'verify',
    },
    {
      key: 'ca',
      label: 'CA certificate',
      type: 'string',
      required: false,
      placeholder: '-----BEGIN CERTIFICATE-----',
      help_text: 'PEM text of the authority that signed the certificate of the server, where it is not a public one.',
    },
  ],
  transport: {
    kind: 'postgresql',
    connection: {
      url: '{{parameters.url}}',
      ssl: '{{parameters.tls}}',
      ca: '{{parameters.ca}}',
      schema: '{{parameters.schema}}',
      ...TABLE_SETTINGS,
    },
    target: '{{parameters.table}}',
    batch: { max_items: 2_000, max_bytes: 5_000_000, interval_ms: 5_000 },
  },
  default_action: 'pass_through',
  rate: { rps: 20 },
  concurrency: 2,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Every event as one row.',
      default_config: {},
    },
  ],
});
