/**
 * Rokt Event and Audience API (mParticle batches). docs.rokt.com, mParticle's web SDK (integrationCapture.ts: rclid, rtid) and public
 * integrations, read on 2026-11-16.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { deviceIds } from '../shared/device.ts';
import { secret, select, text } from '../shared/fields.ts';
import { from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const data = into('events[0].data');
const attribute = into('events[0].data.custom_attributes');
/** In the landing URL as rclid, earlier rtid; apps send it themselves. */
const CLICK_ID = [...source.clickId('rclid'), ...source.clickId('rtid', 'rokt_click_id')];

const variants = blueprints({
  // The conversion type is free text: every event keeps its name.
  names: 'keep',
  global: [
    from('parameters.environment', 'environment'),
    set('events[0].event_type', 'custom_event'),
    set('events[0].data.custom_event_type', 'transaction'),
    set('events[0].data.event_name', 'conversion'),
    data('event_id', 'source_message_id'),
    data('timestamp', 'timestamp_unixtime_ms', ['to_unix_millis']),
    attribute('event_id', 'conversionid'),
    // The unique id of a conversion. The id of an order replaces it.
    attribute('event_id', 'confirmationref'),
    from('user_id', 'user_identities.customerid'),
    from(source.EMAIL, 'user_identities.other', ['normalize_email', 'sha256']),
    // Rokt reads its click id in both places.
    from(CLICK_ID, 'user_identities.other2'),
    from(CLICK_ID, 'integration_attributes["1277"].passbackconversiontrackingid'),
    ...userData(
      'user_attributes',
      { first_name: 'firstnamesha256', last_name: 'lastnamesha256', phone: 'mobilesha256', postal_code: 'billingzipsha256' },
      { phone: 'national' },
    ),
    from(source.GENDER, 'user_attributes.gender', ['normalize_gender', 'uppercase']),
    from(source.BIRTHDAY, 'user_attributes.dob', ['normalize_date']),
    from('context.ip', 'ip'),
    from('context.user_agent', 'device_info.http_header_user_agent'),
    ...deviceIds({
      idfa: 'device_info.ios_advertising_id',
      idfv: 'device_info.ios_idfv',
      aaid: 'device_info.android_advertising_id',
      android_id: 'device_info.android_uuid',
    }),
  ],
  lines: adLines({
    value: 'events[0].data.custom_attributes.amount',
    currency: 'events[0].data.custom_attributes.currency',
    order_id: 'events[0].data.custom_attributes.confirmationref',
  }),
  extra: { 'Coupon Applied': [attribute('properties.coupon', 'coupon', [use('truncate', 100)])] },
  defaults: { action: 'drop' },
});

const ANSWERS: AnswerRule[] = [
  // Accepted, and yet not.
  { status: [202], when: { field: 'body.errors[0]', op: 'exists' }, verdict: 'refused', reason: 'body.errors[0].message' },
  { status: [400, 401, 403], verdict: 'refused', reason: 'body.errors[0].message' },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'rokt',
  name: 'Rokt',
  description: 'Conversions into Rokt, for measurement and optimisation of its offers.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://docs.rokt.com/developers/api-reference/ads-events-api-integration/',
  api_version: { version: 'v2', checked: '2026-11-16' },
  setup_steps: ['Ask your Rokt account manager for the key and secret of the Event API.', 'Let the collector remember the click id rclid.'],
  see_it: 'Open Data, Event stream, and choose the environment.',
  test_mode: { field: 'environment', value: 'development', effect: 'The events go to the development environment.' },
  notes: [
    'Open: which of the attributes of Rokt’s other interfaces the Event API reads. Telephone numbers are hashed without their country code, as Rokt asks there.',
    'Rokt’s click id is read from the parameter rclid or rtid of the landing URL. Apps send it as context.vendor_ids.rokt_click_id.',
    'The e-mail address is sent as SHA-256 in the identity other, never in the clear.',
    'Rokt does not deduplicate requests; source_message_id identifies the event.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('key', 'API key', 'us2-0123456789abcdef', 'From your Rokt account manager.'),
    secret('secret', 'API secret', 'exampleSecret0123456789', 'From your Rokt account manager.'),
    select('environment', 'Environment', ['production', 'development'], 'development: events are for tests.'),
  ],
  request: {
    method: 'POST',
    url: 'https://s2s.us2.mparticle.com/v2/events',
    auth: { kind: 'basic', username: '{{parameters.key}}', password: '{{parameters.secret}}' },
    body: { kind: 'json' },
    answers: ANSWERS,
  },
  event_name: { target: 'events[0].data.custom_attributes.conversiontype' },
  together: [['events[0].data.custom_attributes.amount', 'events[0].data.custom_attributes.currency']],
  require_one_of: [
    [
      'user_identities',
      'device_info.ios_advertising_id',
      'device_info.android_advertising_id',
      'device_info.ios_idfv',
      'device_info.android_uuid',
    ],
  ],
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
