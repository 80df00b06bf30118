/** https://docs.mparticle.com/developers/apis/http/ and mparticle.inbound.eventsapi.schema.json, which accepts no unknown key. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal, productList, singleProduct } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { secret, select, text } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { EVENT_KINDS, type EventKind } from '../shared/standard-events.ts';
import { ofUser, PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const DATA = 'events[0].data';
const IS_EVENT = { field: 'type', op: 'in', value: ['track', 'page'] };
const ANONYMOUS_UUID = { field: 'anonymous_id', op: 'matches', value: source.UUID };
const DEVICE_ID_IS_UUID = { field: 'context.device.id', op: 'matches', value: source.UUID };
const GLOBAL = [
  from('parameters.environment', 'environment'),
  from('user_id', 'user_identities.customer_id'),
  ...ofUser(source.EMAIL, 'user_identities.email', [PLAIN_EMAIL]),
  ...ofUser(source.PHONE, 'user_identities.mobile_number', [PLAIN_PHONE]),
  from('anonymous_id', 'mp_deviceid', [], { when: ANONYMOUS_UUID }),
  from('anonymous_id', 'user_identities.other', [], { when: { not: ANONYMOUS_UUID } }),
  from('context.ip', 'ip'),
  ...contextLines('device_info', {
    user_agent: 'http_header_user_agent',
    os_version: 'os_version',
    manufacturer: 'device_manufacturer',
    model: 'device_model',
    screen_width: 'screen_width',
    screen_height: 'screen_height',
  }),
  ...contextLines('application_info', { app_name: 'application_name', app_version: 'application_version', app_id: 'package' }),
  set('device_info.platform', 'web', { when: { field: 'context.page', op: 'exists' } }),
  set('device_info.platform', 'iOS', { when: { all: [source.IS_APP, source.IS_APPLE] } }),
  set('device_info.platform', 'Android', { when: { all: [source.IS_APP, source.IS_ANDROID] } }),
  from(source.ADVERTISING_ID, 'device_info.ios_advertising_id', [], { when: { all: [source.IS_APPLE, source.ADVERTISING_ID_IS_UUID] } }),
  from(source.ADVERTISING_ID, 'device_info.android_advertising_id', [], {
    when: { all: [source.IS_ANDROID, source.ADVERTISING_ID_IS_UUID] },
  }),
  // Without an advertising id the outputs for attribution know a device by these. mParticle/mparticle-java-events-sdk, DeviceInformation.
  from('context.device.id', 'device_info.ios_idfv', [], { when: { all: [source.IS_APPLE, DEVICE_ID_IS_UUID] } }),
  from('context.device.id', 'device_info.android_uuid', [], { when: source.IS_ANDROID }),
  from(TRACKING_ENABLED, 'device_info.att_authorization_status', ['to_boolean'], {
    value_map: { true: 'authorized', false: 'denied' },
    when: source.IS_APPLE,
  }),
  from(TRACKING_ENABLED, 'device_info.limit_ad_tracking', ['to_boolean'], {
    value_map: { true: false, false: true },
    when: source.IS_ANDROID,
  }),
  from('event_id', 'source_request_id'),
  from('timestamp', `${DATA}.timestamp_unixtime_ms`, ['to_unix_millis'], { when: IS_EVENT }),
  from('event_id', `${DATA}.source_message_id`, [], { when: IS_EVENT }),
  from('properties', `${DATA}.custom_attributes`, [], { when: IS_EVENT }),
  from(source.PAGE_URL, `${DATA}.custom_attributes.page_url`, [], { when: IS_EVENT }),
];
/**
 * Names by which the outputs find what they match on, beside the traits under their own: mParticle/mparticle-apple-sdk,
 * mParticleUserAttribute….
 */
const RESERVED: JsonObject[] = [
  from(source.FIRST_NAME, 'user_attributes.$FirstName', ['trim']),
  from(source.LAST_NAME, 'user_attributes.$LastName', ['trim']),
  from(source.PHONE, 'user_attributes.$Mobile', [PLAIN_PHONE]),
  from(source.GENDER, 'user_attributes.$Gender', ['normalize_gender', 'uppercase']),
  from(source.STREET, 'user_attributes.$Address', ['to_string', 'trim']),
  from(source.CITY, 'user_attributes.$City', ['to_string', 'trim']),
  from(source.STATE, 'user_attributes.$State', ['to_string', 'trim']),
  from(source.POSTAL_CODE, 'user_attributes.$Zip', ['to_string', 'trim']),
  from(source.COUNTRY, 'user_attributes.$Country', ['to_string', 'trim']),
];
const custom = (type: string): JsonObject[] => [set('events[0].event_type', 'custom_event'), set(`${DATA}.custom_event_type`, type)];
const TYPES: Partial<Record<EventKind, string>> = {
  search: 'search',
  trip_search: 'search',
  booking: 'transaction',
  subscription: 'transaction',
  trip_order: 'transaction',
  content: 'user_content',
  video: 'media',
};

const PRODUCT = {
  id: 'id',
  name: 'name',
  brand: 'brand',
  category: 'category',
  variant: 'variant',
  position: 'position',
  price: 'price',
  quantity: 'quantity',
  coupon: 'coupon_code',
};
const ACTION = `${DATA}.product_action`;
const action = (name: string, lines: JsonObject[]): JsonObject[] => [
  set('events[0].event_type', 'commerce_event'),
  set(`${ACTION}.action`, name),
  from('properties.currency', `${DATA}.currency_code`, ['currency_code']),
  ...lines,
];
const ONE = singleProduct(`${ACTION}.products`, PRODUCT);
const MANY = [
  ...productList(`${ACTION}.products`, PRODUCT),
  ...orderTotal(`${ACTION}.total_amount`),
  from('properties.tax', `${ACTION}.tax_amount`, ['to_number']),
  from('properties.shipping', `${ACTION}.shipping_amount`, ['to_number']),
  from('properties.coupon', `${ACTION}.coupon_code`, ['to_string']),
  from('properties.affiliation', `${ACTION}.affiliation`, ['to_string']),
  from('properties.step', `${ACTION}.checkout_step`, ['to_integer']),
];
const ORDER_ID = from(source.ORDER_ID, `${ACTION}.transaction_id`, ['to_string'], { required: true });

export default defineVendor({
  key: 'mparticle',
  name: 'mParticle',
  description: 'Events, commerce events and user attributes into mParticle.',
  category: 'cdp',
  group: 'cdp',
  status: 'ga',
  website: 'https://docs.mparticle.com/developers/apis/http/',
  api_version: { version: 'Events API v2', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In mParticle open Setup, Inputs, Feeds (or a platform), add a custom feed, and copy its key and secret.',
    'Choose the data centre of the account.',
  ],
  see_it: 'Open Activity, Live Stream, and choose the environment.',
  test_mode: { field: 'environment', value: 'development', effect: 'The events go to the development environment.' },
  notes: [
    'One request holds up to 100 batches, one for each event.',
    'An anonymous id that is a UUID is the device id (mp_deviceid); any other is the identity other.',
    'A group call is an attribute of the user. Consent is not forwarded: purposes are names of your workspace.',
    'mParticle has no deduplication: a retry after a timeout can repeat an event.',
    'Events that are older than 30 days belong into the historical call, which is not used.',
  ],
  config_fields: [
    text('api_key', 'Key', 'us1-0123456789abcdef0123456789abcdef', 'Setup, Inputs, your feed, Server to server key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    secret('api_secret', 'Secret', 'abcdefghijklmnopqrstuvwxyz0123456789_-ABCDEF', 'Setup, Inputs, your feed, Server to server secret.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select(
      'region',
      'Data centre',
      ['s2s.us1.mparticle.com', 's2s.us2.mparticle.com', 's2s.eu1.mparticle.com', 's2s.au1.mparticle.com'],
      'The start of the key names it: us1, us2, eu1 or au1.',
    ),
    select(
      'environment',
      'Environment',
      ['production', 'development'],
      'development for a test: the events appear in Live stream and are not forwarded to production outputs.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.region}}/v2/bulkevents',
    auth: { kind: 'basic', username: '{{parameters.api_key}}', password: '{{parameters.api_secret}}' },
    body: { kind: 'json_list' },
    batch: { max_items: 100, max_bytes: 250_000, interval_ms: 1_000 },
    answers: [{ status: [400, 413], verdict: 'refused', reason: 'body.errors[0].message', isolate: true }, RETRY_TIMEOUT],
  },
  event_name: { target: `${DATA}.event_name`, only_with: `${DATA}.custom_event_type` },
  limits: [
    { path: `${DATA}.custom_attributes`, max_string_length: 4_096, scalars_only: true },
    { path: 'user_attributes', max_keys: 100, max_string_length: 4_096 },
  ],
  compact: [{ path: `${ACTION}.products`, needs: ['id'] }],
  require_one_of: [['user_identities.customer_id', 'user_identities.email', 'user_identities.other', 'mp_deviceid']],
  default_action: 'drop',
  rate: { rps: 50 },
  variants: blueprints({
    names: 'keep',
    global: GLOBAL,
    lines: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, custom(TYPES[kind] ?? 'other')])),
    instead: {
      'Product Clicked': action('click', ONE),
      'Product Viewed': action('view_detail', ONE),
      'Product Added': action('add_to_cart', ONE),
      'Product Removed': action('remove_from_cart', ONE),
      'Product Added to Wishlist': action('add_to_wishlist', ONE),
      'Product Removed from Wishlist': action('remove_from_wish_list', ONE),
      'Checkout Started': action('checkout', MANY),
      'Checkout Step Viewed': action('checkout', MANY),
      'Order Completed': action('purchase', [...MANY, ORDER_ID]),
      'Order Refunded': action('refund', [...MANY, ORDER_ID]),
    },
    others: {
      '@page': event(undefined, [
        set('events[0].event_type', 'screen_view'),
        from(['name', 'context.page.title', 'context.page.path'], `${DATA}.screen_name`, [], { required: true }),
      ]),
      '@identify': event(undefined, [from('traits', 'user_attributes', ['string_values']), ...RESERVED]),
      '@group': event(undefined, [
        from('group_id', 'user_attributes.group_id'),
        from('traits.name', 'user_attributes.group_name', ['to_string']),
      ]),
    },
    defaults: { action: 'map', mappings: custom('other') },
  }),
});
