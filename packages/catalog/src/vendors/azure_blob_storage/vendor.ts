/** https://learn.microsoft.com/rest/api/storageservices/put-blob and …/blob-service-error-codes. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { optionalSecret, optionalText, select, text } from '../shared/fields.ts';
import { FILE_CONNECTION, FILE_FIELDS, FILE_NOTES, FILE_TRANSPORT, FILE_VARIANT } from '../shared/files.ts';

export default defineVendor({
  key: 'azure_blob_storage',
  name: 'Azure Blob Storage',
  description: 'Writes events as NDJSON, CSV or Parquet blobs into a container.',
  category: 'cloud_storage',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://learn.microsoft.com/rest/api/storageservices/put-blob',
  api_version: { version: '2021-12-02', checked: '2026-11-16' },
  setup_steps: [
    'Create a storage account and a container.',
    'Copy an account key (Security + networking, Access keys), or generate a SAS for the container with the permissions create and write.',
    'Send an event and list the container: a blob appears after the interval.',
  ],
  notes: ['A SAS token limits what a leaked credential can do: prefer it to the account key.', ...FILE_NOTES],
  config_fields: [
    text('account', 'Storage account', 'acmeevents', 'Name of the storage account.', {
      pattern: '^[a-z0-9]{3,24}$',
      pattern_hint: '3 to 24 lower-case letters and digits',
    }),
    text('container', 'Container', 'events', 'Name of the container.', {
      pattern: '^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$',
      pattern_hint: '3 to 63 lower-case letters, digits and single hyphens',
    }),
    select('authentication', 'Authentication', ['account_key', 'sas'], 'The key of the account, or a SAS for the container.'),
    optionalSecret('account_key', 'Account key', 'bXkgYWNjb3VudCBrZXk=', 'Security + networking, Access keys.', {
      required_when: { field: 'authentication', equals: 'account_key' },
    }),
    optionalSecret(
      'sas_token',
      'SAS token',
      'sv=2022-11-02&sr=c&sp=cw&sig=c2lnbmF0dXJl',
      'Of the container: Shared access tokens, Generate.',
      {
        required_when: { field: 'authentication', equals: 'sas' },
        pattern: '^(?:•|\\??(?=.*\\bsig=)[^\\s#]+$)',
        pattern_hint: 'the query string of a SAS, with sig=',
      },
    ),
    optionalText(
      'endpoint',
      'Endpoint',
      'https://acmeevents.blob.core.usgovcloudapi.net',
      'Of a sovereign cloud or a private link. Empty for Azure.',
      {
        format: 'url',
      },
    ),
    ...FILE_FIELDS,
  ],
  transport: {
    kind: 'azure_blob',
    connection: {
      account: '{{parameters.account}}',
      container: '{{parameters.container}}',
      authentication: '{{parameters.authentication}}',
      account_key: '{{parameters.account_key}}',
      sas_token: '{{parameters.sas_token}}',
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
