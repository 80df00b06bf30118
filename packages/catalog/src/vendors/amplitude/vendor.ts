import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints, likeRetail } from '../shared/blueprints.ts';
import { NEGATIVE, orderTotal } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { deviceIds } from '../shared/device.ts';
import { secret, select } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

/** Event names stay as they are. The event id prevents that a repeated delivery counts twice. */
const NO_GROUP = { field: 'type', op: 'ne', value: 'group' };
const CAMPAIGN = Object.entries({ source: 'source', medium: 'medium', campaign: 'name', term: 'term', content: 'content' });
/** Most events have no campaign: one test instead of ten lookups. */
const HAS_CAMPAIGN = {
  when: {
    any: [
      { field: 'context.campaign', op: 'exists' },
      { field: 'context.campaign_first', op: 'exists' },
    ],
  },
};
/** Those that Amplitude's own browser SDK keeps. */
const CLICK_IDS = ['gclid', 'gbraid', 'wbraid', 'dclid', 'fbclid', 'li_fat_id', 'msclkid', 'rdt_cid', 'ttclid', 'twclid'];
const GLOBAL: JsonObject[] = [
  from('user_id', 'user_id'),
  from('anonymous_id', 'device_id'),
  from('timestamp', 'time', ['to_unix_millis']),
  from('properties', 'event_properties'),
  ...contextLines('event_properties', { url: 'page_url', referrer: 'page_referrer', title: 'page_title' }),
  // The traits of every event would rewrite the profile again and again: only changed ones are sent.
  from('traits', 'user_properties.$set', [], { when: { all: [NO_GROUP, { field: 'context.traits_changed', op: 'ne', value: false }] } }),
  ...CAMPAIGN.flatMap(([theirs, ours]) => [
    from(`context.campaign.${ours}`, `user_properties.$set.utm_${theirs}`),
    from(
      [`context.campaign_first.${ours}`, `context.campaign.${ours}`],
      `user_properties.$setOnce.initial_utm_${theirs}`,
      [],
      HAS_CAMPAIGN,
    ),
  ]),
  ...CLICK_IDS.map((name) => from(`context.click_ids.${name}`, `user_properties.$set.${name}`)),
  from('context.session.started_at', 'session_id', ['to_unix_millis']),
  from('context.group_id', 'groups.company'),
  set('platform', 'Web', { when: { field: 'context.page', op: 'exists' } }),
  set('platform', 'iOS', { when: { all: [source.IS_APPLE, source.IS_APP] } }),
  set('platform', 'Android', { when: { all: [source.IS_ANDROID, source.IS_APP] } }),
  ...contextLines('', { ip: 'ip', locale: 'language', os: 'os_name', os_version: 'os_version', app_version: 'app_version' }),
  ...contextLines('', { manufacturer: 'device_manufacturer', model: 'device_model' }),
  from('context.network.carrier', 'carrier', ['to_string']),
  ...deviceIds({ idfv: 'idfv', android_id: 'android_id' }),
  // A part of the location would reset the other parts, and from the address Amplitude finds them all.
  ...['country', 'region', 'city'].map((name) =>
    from(`context.geo.${name}`, name, [], { when: { field: 'context.ip', op: 'not_exists' } }),
  ),
  set('library', 'firsthand'),
];
const PAGE = event('Page Viewed', [from('name', 'event_properties.page_name'), from(source.PAGE_TITLE, 'event_properties.page_title')]);
const SCREEN = event('Screen Viewed', [from('name', 'event_properties.screen_name')]);
const IDENTIFY = event('$identify', [from('traits', 'user_properties.$set')]);
/** `$groupidentify` sets the group's properties, and an `$identify` beside it puts the user into the group. */
const GROUP = event('$groupidentify', [
  from('group_id', 'groups.company'),
  from('traits', 'group_properties.$set'),
  set('identify.event_type', '$identify'),
  from('group_id', 'identify.groups.company'),
  from('group_id', 'identify.user_properties.$set.company'),
  from('user_id', 'identify.user_id'),
  from('anonymous_id', 'identify.device_id'),
  from('timestamp', 'identify.time', ['to_unix_millis']),
]);

const ORDER = [
  ...orderTotal('revenue', {}, source.REVENUE),
  from('properties.currency', 'currency', ['currency_code']),
  set('revenueType', 'Purchase'),
];
const REFUND = [
  from('properties.products', 'revenue', [use('sum_product', 'price', 'quantity'), ...NEGATIVE]),
  from(source.REVENUE, 'revenue', NEGATIVE),
  from('properties.currency', 'currency', ['currency_code']),
  set('revenueType', 'Refund'),
];
const PRODUCT = [from(source.productId, 'productId', ['to_string'])];
const VARIANTS = blueprints({
  names: 'keep',
  global: GLOBAL,
  lines: likeRetail({ product: PRODUCT, purchase: ORDER, refund: REFUND }),
  others: { '@page': PAGE, '@screen': SCREEN, '@identify': IDENTIFY, '@group': GROUP },
});

const ANSWERS: AnswerRule[] = [
  // The whole request was rejected. The named events are at fault; the others are sent again without them.
  {
    status: [400],
    verdict: 'partial',
    partial: {
      indexes: [
        'body.events_with_invalid_fields',
        'body.events_with_missing_fields',
        'body.events_with_invalid_id_lengths',
        'body.silenced_events',
      ],
      reason: 'body.error',
      failed: 'refused',
      others: 'unavailable',
    },
  },
  // The fault is in the request, not in an event: the key is wrong, or a field beside `events` is missing.
  {
    status: [400],
    when: {
      any: [
        { field: 'body.error', op: 'starts_with', value: 'Invalid API key' },
        { field: 'body.missing_field', op: 'exists' },
      ],
    },
    verdict: 'refused',
    reason: 'body.error',
  },
  { status: [400, 413], verdict: 'refused', reason: 'body.error', isolate: true },
  // Too many events for some users or devices: they wait 30 s, the others are sent again at once.
  {
    status: [429],
    verdict: 'partial',
    partial: {
      keys: ['body.throttled_users', 'body.throttled_devices', 'body.exceeded_daily_quota_users', 'body.exceeded_daily_quota_devices'],
      reason: 'body.error',
      failed: 'unavailable',
      others: 'unavailable',
    },
    retry_after: { ms: 30_000 },
  },
  { status: [429], verdict: 'unavailable', reason: 'body.error', retry_after: { ms: 30_000 } },
  RETRY_TIMEOUT,
];

const upload = (host: string): Omit<RequestDefinition, 'when'> => ({
  method: 'POST',
  url: `https://${host}/2/httpapi`,
  items: ['$', 'identify'],
  fill: { insert_id: '{{item.id}}' },
  item_keys: ['user_id', 'device_id'],
  body: { kind: 'json_list', under: 'events', common: { api_key: '{{parameters.api_key}}', options: { min_id_length: 1 } } },
  batch: { max_items: 1_000, max_bytes: 900_000, interval_ms: 1_000 },
  answers: ANSWERS,
});

export default defineVendor({
  key: 'amplitude',
  name: 'Amplitude',
  description: 'Events, user properties and groups into Amplitude Analytics through the HTTP V2 API.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://amplitude.com/docs/apis/analytics/http-v2',
  api_version: { version: 'HTTP V2', checked: '2026-11-16' },
  setup_steps: [
    'In Amplitude open Settings, Projects, your project, General, and copy the API key.',
    'Choose the data region of the project.',
  ],
  see_it: 'Open Users, User profiles, and search the user ID: the event shows in the user history within seconds.',
  default_consent_category: 'analytics',
  config_fields: [
    secret('api_key', 'API key', '0123456789abcdef0123456789abcdef', 'Settings, Projects, your project, General.'),
    select('data_region', 'Data region', ['us', 'eu'], 'Where the project lives.'),
  ],
  requests: [
    { ...upload('api.eu.amplitude.com'), when: { field: 'parameters.data_region', op: 'eq', value: 'eu' } },
    upload('api2.amplitude.com'),
  ],
  event_name: { target: 'event_type', max_length: 1_024 },
  require_one_of: [['user_id', 'device_id']],
  default_action: 'drop',
  rate: { rps: 100, burst: 200 },
  variants: VARIANTS,
});
