/** https://learn.microsoft.com/rest/api/storageservices/put-blob and …/blob-service-error-codes. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { optionalSecret, optionalText, select, text } from '../shared/fields.ts';

/** The name is the content's hash under the first event's hour: a retry of the same events overwrites its own blob. */
const put = (suffix: string): RequestDefinition => ({
  name: 'put_blob',
  method: 'PUT',
  url: `https://{{parameters.account}}.blob.core.windows.net/{{parameters.container}}/{{parameters.prefix | path}}{{date.year}}/{{date.month}}/{{date.day}}/{{date.hour}}/{{body.sha256}}${suffix}`,
  headers: { 'x-ms-blob-type': 'BlockBlob' },
  auth: {
    kind: 'choice',
    field: 'authentication',
    options: {
      account_key: { kind: 'azure_shared_key', account: '{{parameters.account}}', key: '{{parameters.account_key}}' },
      sas: { kind: 'azure_sas', token: '{{parameters.sas_token}}' },
    },
  },
  body: { kind: 'ndjson' },
  batch: { max_items: 10_000, max_bytes: 5_000_000, interval_ms: 10_000 },
  answers: [
    // The container is about to exist again.
    {
      status: [409],
      when: { field: 'headers.x-ms-error-code', op: 'eq', value: 'ContainerBeingDeleted' },
      verdict: 'unavailable',
      reason: 'headers.x-ms-error-code',
    },
    { status: [400, 403, 404, 409, 412], verdict: 'refused', reason: 'headers.x-ms-error-code' },
    RETRY_TIMEOUT,
  ],
});

export default defineVendor({
  key: 'azure_blob_storage',
  name: 'Azure Blob Storage',
  description: 'Writes events as newline-delimited JSON blobs into a container, by size and time, under a date prefix.',
  category: 'cloud_storage',
  group: 'storage_and_streams',
  status: 'ga',
  website: 'https://learn.microsoft.com/rest/api/storageservices/put-blob',
  api_version: { version: '2021-12-02', checked: '2026-11-16' },
  setup_steps: [
    'Create a storage account and a container.',
    'Copy an account key (Security + networking, Access keys), or generate a SAS for the container with the permissions create and write.',
  ],
  notes: ['A SAS token limits what a leaked credential can do: prefer it to the account key.'],
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
    optionalText('prefix', 'Prefix', 'firsthand/', 'Stands before the date in every name: firsthand/2026/01/31/13/<hash>.ndjson.', {
      default: 'firsthand/',
      pattern: '^(?!/)[\\w!\\-.*()/=]{0,500}$',
      pattern_hint: 'letters, digits and safe punctuation, without a leading slash',
    }),
    select('compression', 'Compression', ['none', 'gzip'], 'gzip adds .gz to the name.'),
  ],
  requests: [
    { ...put('.ndjson.gz'), when: { field: 'parameters.compression', op: 'eq', value: 'gzip' }, compression: 'gzip' },
    put('.ndjson'),
  ],
  default_action: 'pass_through',
  rate: { rps: 100, burst: 200 },
  concurrency: 4,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Every event as it is, one a line.',
      default_config: { version: 2, defaults: { action: 'pass_through' } },
    },
  ],
});
