/** https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/append */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { optionalText, text } from '../shared/fields.ts';
import { SERVICE_ACCOUNT_FIELDS } from '../shared/google.ts';
import { event, from, type Transform, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { CRM_EVENTS } from '../shared/standard-events.ts';

/** The columns of a row, in order. An empty cell keeps its place. */
const COLUMNS: readonly [sources: string | string[], ...transforms: Transform[]][] = [
  ['timestamp'],
  ['event_id'],
  [['event', 'name', 'type']],
  ['user_id'],
  ['anonymous_id'],
  [source.EMAIL, 'normalize_email'],
  [source.PAGE_URL],
  [source.VALUE, 'to_number'],
  ['properties.currency', 'currency_code'],
  // A cell holds 50,000 characters; a longer text would reject the row.
  ['properties', 'json_stringify', use('truncate', 50_000)],
];
const ROW: JsonObject[] = COLUMNS.map(([path, ...transforms], index) => from(path, `rows[0][${index}]`, transforms, { default: '' }));

export default defineVendor({
  key: 'google_sheets',
  name: 'Google Sheets',
  description: 'A row in a Google sheet for each event you choose.',
  category: 'other',
  group: 'notification',
  status: 'ga',
  website: 'https://developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/append',
  api_version: { version: 'v4', checked: '2026-11-16' },
  setup_steps: [
    'In the Google Cloud console enable the Google Sheets API, create a service account, and add a key of the type JSON.',
    'Share the spreadsheet with the e-mail address of the service account, as an editor.',
    'Make a sheet of its own, with the heads: time, event id, event, user id, anonymous id, e-mail, page, value, currency, properties.',
  ],
  see_it: 'Open the sheet: the row shows after the batch interval.',
  notes: [
    'Cells are written as they are (RAW): a value that begins with = is no formula.',
    'Google accepts 60 writes a minute for a service account, so rows are collected for five seconds.',
    'A spreadsheet holds 10 million cells; then every request is rejected.',
    'A retry after a timeout can write a row twice: the event id shows it.',
  ],
  config_fields: [
    text(
      'spreadsheet_id',
      'Spreadsheet ID',
      '1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms',
      'The part of the address between /d/ and /edit.',
      { pattern: '^[A-Za-z0-9_-]{20,100}$', pattern_hint: 'letters, digits, dashes and underscores, without https://' },
    ),
    optionalText('range', 'Sheet', 'Events!A1', 'The name of the sheet, and the cell where its table begins.', { default: 'Sheet1!A1' }),
    ...SERVICE_ACCOUNT_FIELDS,
  ],
  request: {
    method: 'POST',
    url: 'https://sheets.googleapis.com/v4/spreadsheets/{{parameters.spreadsheet_id}}/values/{{parameters.range}}:append',
    query: { valueInputOption: 'RAW', insertDataOption: 'INSERT_ROWS' },
    auth: {
      kind: 'google_service_account',
      token_url: 'https://oauth2.googleapis.com/token',
      client_email: '{{parameters.client_email}}',
      private_key: '{{parameters.private_key}}',
      scope: 'https://www.googleapis.com/auth/spreadsheets',
    },
    items: 'rows',
    body: { kind: 'json_list', under: 'values', common: { majorDimension: 'ROWS' } },
    batch: { max_items: 500, max_bytes: 1_500_000, interval_ms: 5_000 },
    answers: [{ status: [400, 413], verdict: 'refused', reason: 'body.error.message', isolate: true }, RETRY_TIMEOUT],
  },
  default_action: 'drop',
  rate: { rps: 1, burst: 5 },
  concurrency: 1,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'A row for orders, bookings, sign-ups, leads, trials and subscriptions. Add events, or other columns.',
      default_config: {
        version: 2,
        global: { mappings: ROW },
        events: Object.fromEntries(CRM_EVENTS.map((name) => [name, event(undefined, [])])),
        defaults: { action: 'drop' },
      },
    },
  ],
});
