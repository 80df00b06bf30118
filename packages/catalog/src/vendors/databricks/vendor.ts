import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { idOf, optionalSecret, optionalText, select, text } from '../shared/fields.ts';
import { EVERY_ROW, TABLE_NOTES, TABLE_SETTINGS, tableFields } from '../shared/tables.ts';

export default defineVendor({
  key: 'databricks',
  name: 'Databricks',
  description: 'Merges events into Delta tables of Unity Catalog: one table or Segment’s tables, with columns added by itself.',
  category: 'other',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://docs.databricks.com/api/workspace/statementexecution',
  api_version: { version: '2.0', checked: '2026-11-16' },
  setup_steps: [
    'Create a service principal with an OAuth secret, or a personal access token.',
    'Grant it USE CATALOG, USE SCHEMA, CREATE TABLE, SELECT and MODIFY on the schema, and CAN USE on a SQL warehouse.',
    'Copy the id of the warehouse from its connection details. A serverless warehouse starts within seconds.',
    'Send an event and select it from tracks or pages.',
  ],
  notes: [
    'Exactly once: a batch is a MERGE by the id of the event.',
    'Every batch runs on the warehouse, so the interval decides what it costs.',
    ...TABLE_NOTES,
  ],
  config_fields: [
    text('host', 'Workspace URL', 'https://dbc-a1b2c3d4-e5f6.cloud.databricks.com', 'Address of the workspace.', { format: 'url' }),
    text(
      'warehouse_id',
      'Warehouse ID',
      'a1b2c3d4e5f60718',
      'The SQL warehouse that runs the statements.',
      idOf('the id of a SQL warehouse'),
    ),
    text('catalog', 'Catalog', 'main', 'The catalog of the tables.', idOf('the name of a catalog')),
    text('schema', 'Schema', 'firsthand', 'The schema of the tables.', idOf('the name of a schema')),
    select('authentication', 'Authentication', ['oauth', 'token'], 'oauth: a service principal. token: a personal access token.'),
    optionalText('client_id', 'Client ID', '3f7a1c0e-1111-2222-3333-444455556666', 'The application id of the service principal.', {
      required_when: { field: 'authentication', equals: 'oauth' },
    }),
    optionalSecret('client_secret', 'Client secret', 'dose1234567890abcdef', 'An OAuth secret of the service principal.', {
      required_when: { field: 'authentication', equals: 'oauth' },
    }),
    optionalSecret('token', 'Access token', 'dapi1234567890abcdef', 'A personal access token.', {
      required_when: { field: 'authentication', equals: 'token' },
    }),
    ...tableFields({ layout: 'segment', table: {} }),
  ],
  transport: {
    kind: 'databricks',
    connection: {
      host: '{{parameters.host}}',
      warehouse_id: '{{parameters.warehouse_id}}',
      catalog: '{{parameters.catalog}}',
      schema: '{{parameters.schema}}',
      authentication: '{{parameters.authentication}}',
      client_id: '{{parameters.client_id}}',
      client_secret: '{{parameters.client_secret}}',
      token: '{{parameters.token}}',
      ...TABLE_SETTINGS,
    },
    target: '{{parameters.table}}',
    // The statement and its parameters may have 16 MiB.
    batch: { max_items: 10_000, max_bytes: 5_000_000, interval_ms: 60_000 },
  },
  default_action: 'pass_through',
  rate: { rps: 1 },
  concurrency: 1,
  timeout_ms: 300_000,
  variants: EVERY_ROW,
});
