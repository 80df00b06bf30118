/** https://yandex.com/dev/metrika/en/management/offline-conv and …/openapi/offline_conversions/upload_1, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { digits, eventTable, secret, text } from '../shared/fields.ts';
import { from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const COLUMNS = ['UserId', 'ClientId', 'Yclid', 'PurchaseId', 'Target', 'DateTime', 'Price', 'Currency'];

export default defineVendor({
  key: 'yandex_offline_conversions',
  name: 'Yandex Metrica offline conversions',
  description: 'Uploads conversions as CSV files to goals of a Yandex Metrica counter, also for Yandex Direct.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://yandex.com/dev/metrika/en/management/offline-conv',
  api_version: { version: 'management/v1', checked: '2026-11-16' },
  default_consent_category: 'advertising',
  setup_steps: [
    'In Yandex Metrica open Goals and create a goal of the type JavaScript event with the condition "matches" for each event.',
    'Register an application at oauth.yandex.com with access to Yandex Metrica data upload, and get a token for your account.',
    'Check whether your rules allow data to be sent to Russia, where the service runs.',
  ],
  see_it: 'Open Settings, Data upload, Offline conversions: the upload shows with its status; conversions are in reports within two hours.',
  notes: [
    'A conversion needs the ClientID of Metrica (cookie _ym_uid, sent as context.vendor_ids.ym_uid), the click ID yclid, the user ID or the order ID.',
    'Metrica adds a conversion to a visit of the last 21 days.',
    'Metrica does not deduplicate uploads. A file is sent again only if its first attempt got no answer.',
  ],
  config_fields: [
    text('counter_id', 'Counter', '12345678', 'The number of the counter, beside its name.', digits()),
    secret('token', 'OAuth token', 'y0_AgAAAAexampletoken', 'oauth.yandex.com, your application; with access to data upload.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    eventTable(
      'goals',
      'Goals',
      text('goal', 'Goal ID', 'order_confirmed', 'Identifier of the JavaScript event in Goals.'),
      'Events and the goal of each. A row enables its event.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://api-metrika.yandex.net/management/v1/counter/{{parameters.counter_id}}/offline_conversions/upload',
    auth: { kind: 'header', name: 'Authorization', value: 'OAuth {{parameters.token}}' },
    body: {
      kind: 'multipart',
      file: {
        name: 'file',
        filename: 'conversions.csv',
        content_type: 'text/csv',
        content: { kind: 'csv', columns: Object.fromEntries(COLUMNS.map((name) => [name, name])) },
      },
    },
    batch: { max_items: 5_000, max_bytes: 2_000_000, interval_ms: 60_000 },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'Target' },
  event_table: { field: 'goals', event: 'event', vendor_event_name: 'goal' },
  together: [['Price', 'Currency']],
  require_one_of: [['ClientId', 'Yclid', 'UserId', 'PurchaseId']],
  max_event_age_hours: 504,
  default_action: 'drop',
  rate: { rps: 1, burst: 2, daily: 5_000 },
  concurrency: 1,
  variants: blueprints({
    names: {},
    global: [
      from(['context.vendor_ids.ym_uid', 'context.vendor_ids._ym_uid'], 'ClientId', ['digits_only']),
      from(source.clickId('yclid'), 'Yclid'),
      from('user_id', 'UserId', ['to_string']),
      from('timestamp', 'DateTime', ['to_unix_seconds']),
    ],
    lines: adLines({ value: 'Price', currency: 'Currency', order_id: 'PurchaseId' }),
  }),
});
