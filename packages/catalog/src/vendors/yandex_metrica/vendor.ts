/**
 * Offline conversions: https://yandex.com/dev/metrika/en/management/offline-conv and
 * https://yandex.com/dev/metrika/en/management/openapi/offline_conversions/upload_1.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { digits, eventTable, secret, text } from '../shared/fields.ts';
import { from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const VALUE = [...orderTotal('Price'), from('properties.currency', 'Currency', ['currency_code'])];
const goals = eventTable(
  'goals',
  'Goals',
  text('goal', 'Goal ID', 'order_confirmed', 'Identifier of a goal of the type JavaScript event, condition "matches".'),
  'Further events and the goal of each. A row enables its event.',
);

export default defineVendor({
  key: 'yandex_metrica',
  name: 'Yandex Metrica',
  description: 'Offline conversions into Yandex Metrica: events as goals of past visits, matched by client, user or click id.',
  category: 'analytics',
  group: 'analytics',
  status: 'beta',
  website: 'https://yandex.com/dev/metrika/en/management/offline-conv',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Metrica open Settings, Uploading data, and turn on offline conversions.',
    'Create a goal of the type JavaScript event for each event, with the condition "matches".',
    'Register an OAuth application with the scope metrika:write and issue a token for it.',
  ],
  notes: [
    'Open: whether a line may leave some of the id columns empty. The documentation asks for at least one id per conversion.',
    'Metrica links a conversion to a visit of the last 21 days. Lines that match no visit are not reported back.',
    'The service is in Russia: check whether your rules allow the transfer.',
  ],
  config_fields: [
    text('counter_id', 'Tag ID', '2215573', 'The number of the tag (counter).', digits('the digits of a tag id')),
    secret('token', 'OAuth token', 'y0_AgAAAAAexampletoken', 'With the scope metrika:write.'),
    { ...goals, required: false },
  ],
  request: {
    method: 'POST',
    url: 'https://api-metrika.yandex.net/management/v1/counter/{{parameters.counter_id}}/offline_conversions/upload',
    query: { type: 'BASIC' },
    auth: { kind: 'header', name: 'Authorization', value: 'OAuth {{parameters.token}}' },
    body: {
      kind: 'multipart',
      file: {
        name: 'file',
        filename: 'conversions.csv',
        content_type: 'text/csv',
        content: {
          kind: 'csv',
          columns: {
            ClientId: 'ClientId',
            UserId: 'UserId',
            Yclid: 'Yclid',
            PurchaseId: 'PurchaseId',
            Target: 'Target',
            DateTime: 'DateTime',
            Price: 'Price',
            Currency: 'Currency',
          },
        },
      },
    },
    // 5,000 requests a day are allowed: one file a minute stays far below.
    batch: { max_items: 10_000, max_bytes: 5_000_000, interval_ms: 60_000 },
    answers: [
      { status: [400], verdict: 'refused', reason: 'body.message', isolate: true },
      { status: [420], verdict: 'unavailable', reason: 'body.message' },
      RETRY_TIMEOUT,
    ],
  },
  event_name: { target: 'Target' },
  event_table: { field: 'goals', event: 'event', vendor_event_name: 'goal' },
  require_one_of: [['ClientId', 'UserId', 'Yclid', 'PurchaseId']],
  max_event_age_hours: 504,
  default_action: 'drop',
  rate: { rps: 10, daily: 5_000 },
  concurrency: 1,
  variants: blueprints({
    names: {
      'Order Completed': 'order_completed',
      'Booking Completed': 'booking_completed',
      'Subscription Started': 'subscription_started',
      'Lead Generated': 'lead',
      'Signed Up': 'sign_up',
    },
    global: [
      from('context.vendor_ids.ym_uid', 'ClientId'),
      from('user_id', 'UserId'),
      from(source.clickId('yclid'), 'Yclid'),
      from('timestamp', 'DateTime', ['to_unix_seconds']),
    ],
    lines: {
      purchase: [...VALUE, from('properties.order_id', 'PurchaseId', ['to_string'])],
      booking: [...VALUE, from('properties.booking_id', 'PurchaseId', ['to_string'])],
      subscription: VALUE,
      lead: VALUE,
    },
  }),
});
