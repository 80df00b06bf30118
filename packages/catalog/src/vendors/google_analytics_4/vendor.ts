import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { flag, optionalSecret, optionalText, secret, select, text } from '../shared/fields.ts';
import { event } from '../shared/mapping.ts';
import { OWN_PAGE_URL, PAGE_TITLE } from '../shared/sources.ts';
import { FREE, GLOBAL, param, WHOLE_ADDRESS } from './mappings.ts';
import { RETAIL } from './retail.ts';
import { MEDIA, SAAS, TRAVEL } from './verticals.ts';

const PAGE: JsonObject = event('page_view', [
  param('name', 'page_name'),
  param(PAGE_TITLE, 'page_title'),
  param(OWN_PAGE_URL, 'page_location'),
]);
const SCREEN: JsonObject = event('screen_view', [param('name', 'screen_name')]);
const GROUP: JsonObject = event('join_group', [param('group_id', 'group_id')]);
const blueprint = (events: Record<string, JsonObject>): JsonObject => ({
  version: 2,
  global: GLOBAL,
  // Google has no event for identify. User properties are sent with the other events.
  events: {
    '@page': PAGE,
    '@screen': SCREEN,
    '@alias': event(undefined, [], { enabled: false }),
    '@identify': event(undefined, [], { enabled: false }),
    '@group': GROUP,
    ...events,
  },
  defaults: { action: 'map', mappings: FREE },
});

/** Everything but the events belongs to the client: events of one client share a request. */
const CLIENT = ['client_id', 'app_instance_id', 'user_id', 'ip_override', 'device', 'consent', 'user_properties', 'user_data'];
const REGIONS = { eu: 'region1.google-analytics.com', global: 'www.google-analytics.com' };

const collect = (region: keyof typeof REGIONS, stream: 'web' | 'app'): RequestDefinition => ({
  name: `${stream}_${region}`,
  when: {
    all: [
      { field: 'parameters.data_region', op: 'eq', value: region },
      { field: 'payload.app_instance_id', op: stream === 'app' ? 'exists' : 'not_exists' },
    ],
  },
  method: 'POST',
  url: `https://${REGIONS[region]}/mp/collect`,
  query:
    stream === 'app'
      ? { api_secret: '{{parameters.firebase_api_secret}}', firebase_app_id: '{{parameters.firebase_app_id}}' }
      : { api_secret: '{{parameters.api_secret}}', measurement_id: '{{parameters.measurement_id}}' },
  lane: CLIENT,
  items: 'events',
  body: { kind: 'json_list', under: 'events', common: Object.fromEntries(CLIENT.map((key) => [key, { $ref: `lane.${key}` }])) },
  batch: { max_items: 25, max_bytes: 120_000, interval_ms: 1_000 },
  answers: [RETRY_TIMEOUT],
});
const WEB = [collect('eu', 'web'), collect('global', 'web')];
const APP = [collect('eu', 'app'), collect('global', 'app')];

/** Names that Google reserves in web streams. It drops such events silently. */
const RESERVED = [
  'ad_activeview',
  'ad_click',
  'ad_exposure',
  'ad_query',
  'ad_reward',
  'adunit_exposure',
  'app_clear_data',
  'app_exception',
  'app_install',
  'app_remove',
  'app_store_refund',
  'app_update',
  'app_upgrade',
  'dynamic_link_app_open',
  'dynamic_link_app_update',
  'dynamic_link_first_open',
  'error',
  'first_open',
  'first_visit',
  'in_app_purchase',
  'notification_dismiss',
  'notification_foreground',
  'notification_open',
  'notification_receive',
  'os_update',
  'session_start',
  'session_start_with_rollout',
  'user_engagement',
];

export default defineVendor({
  key: 'google_analytics_4',
  name: 'Google Analytics 4',
  description: 'Events into a Google Analytics 4 web stream through the Measurement Protocol.',
  category: 'analytics',
  group: 'analytics',
  status: 'ga',
  website: 'https://developers.google.com/analytics/devguides/collection/protocol/ga4',
  notes: ['Google answers 2xx whatever it thinks of an event.'],
  api_version: { version: 'Measurement Protocol (GA4)', checked: '2026-11-16' },
  setup_steps: [
    'In Google Analytics open Admin, Data streams, your stream and copy the measurement ID.',
    'In the same stream open Measurement Protocol API secrets and create a secret.',
    "Turn off the browser tag's events that you send from here, or they count twice.",
  ],
  see_it: 'Open Admin, DebugView, for events in debug mode; others show under Reports, Realtime.',
  // developers.google.com/analytics/devguides/collection/protocol/ga4/verify-implementation
  test_mode: { field: 'debug_mode', value: true, effect: 'The event also shows in DebugView. It still counts in reports.' },
  default_consent_category: 'analytics',
  config_fields: [
    text('measurement_id', 'Measurement ID', 'G-ABC1234567', 'Admin, Data streams, your web stream.', {
      pattern: '^G-[A-Z0-9]{4,16}$',
      pattern_hint: 'a measurement id such as G-ABC1234567',
    }),
    secret('api_secret', 'API secret', 'aB3dE5fG7hI9jK1lM3nO5p', 'Data streams, your stream, Measurement Protocol API secrets.'),
    select('data_region', 'Collection region', ['global', 'eu'], 'eu keeps collection on servers in the European Union.'),
    optionalText(
      'firebase_app_id',
      'Firebase app ID',
      '1:1234567890:android:321abc456def7890',
      'For app events: Firebase console, Project settings, General, Your apps. Needs the API secret of the app stream.',
      { pattern: '^\\d+:\\d+:\\w+:\\w+$', pattern_hint: 'an app id such as 1:1234567890:android:321abc456def7890' },
    ),
    optionalSecret(
      'firebase_api_secret',
      'API secret of the app stream',
      'qR7sT9uV1wX3yZ5aB7cD9e',
      'Data streams, your app stream, Measurement Protocol API secrets.',
    ),
    flag('debug_mode', 'Debug mode', 'Shows events in DebugView. Turn it off in production.'),
  ],
  requests: [...WEB, ...APP],
  event_name: {
    target: 'events[0].name',
    style: 'identifier',
    max_length: 40,
    reserved: RESERVED,
    reserved_prefixes: ['_', 'firebase_', 'ga_', 'google_', 'gtag.'],
  },
  limits: [
    {
      path: 'events[0].params',
      max_keys: 25,
      max_key_length: 40,
      key_style: 'identifier',
      max_string_length: 100,
      string_lengths: { page_location: 1000, page_referrer: 420, page_title: 300 },
      scalars_only: true,
      keep: ['items'],
      max_list_length: 200,
    },
    { path: 'events[0].params.items[*]', max_string_length: 100 },
  ],
  together: [WHOLE_ADDRESS],
  compact: [{ path: 'events[0].params.items', needs: ['item_id', 'item_name'] }],
  max_event_age_hours: 72,
  default_action: 'drop',
  timeout_ms: 30_000,
  rate: { rps: 500, burst: 1_000 },
  concurrency: 16,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Every standard event under Google’s name; other events under their own.',
      default_config: blueprint({ ...SAAS, ...MEDIA, ...TRAVEL, ...RETAIL }),
    },
    { key: 'retail', name: 'Retail', description: 'The whole e-commerce event set with items.', default_config: blueprint(RETAIL) },
    { key: 'travel', name: 'Travel', description: 'Searches, offers and bookings.', default_config: blueprint(TRAVEL) },
    { key: 'media', name: 'Media', description: 'Articles, video and subscriptions.', default_config: blueprint(MEDIA) },
    { key: 'saas', name: 'SaaS', description: 'Sign-ups, trials, invites, features and plans.', default_config: blueprint(SAAS) },
  ],
});
