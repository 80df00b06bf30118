import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { event } from '../shared/mapping.ts';
import { PAGE_TITLE } from '../shared/sources.ts';
import { FREE, GLOBAL, param } from './mappings.ts';
import { RETAIL } from './retail.ts';
import { MEDIA, TRAVEL } from './verticals.ts';

const PAGE: JsonObject = event('page_view', [param('name', 'page_name'), param(PAGE_TITLE, 'page_title')]);
const GROUP: JsonObject = event('join_group', [param('group_id', 'group_id')]);
const blueprint = (events: Record<string, JsonObject>): JsonObject => ({
  version: 2,
  global: GLOBAL,
  // An identify is no event of theirs; user properties travel with the others.
  events: { '@page': PAGE, '@identify': event(undefined, [], { enabled: false }), '@group': GROUP, ...events },
  defaults: { action: 'map', mappings: FREE },
});

const collect = (host: string): Omit<RequestDefinition, 'when'> => ({
  method: 'POST',
  url: `https://${host}/mp/collect`,
  query: { measurement_id: '{{parameters.measurement_id}}' },
  auth: { kind: 'query', name: 'api_secret', value: '{{parameters.api_secret}}' },
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
});

/** Names that Google keeps for itself in web streams; it drops events that carry them without a word. */
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
  setup_steps: [
    'In Google Analytics open Admin, Data streams, your stream and copy the measurement ID.',
    'In the same stream open Measurement Protocol API secrets and create a secret.',
    "Turn off the browser tag's events that you send from here, or they count twice.",
  ],
  default_consent_category: 'analytics',
  config_fields: [
    {
      key: 'measurement_id',
      label: 'Measurement ID',
      type: 'string',
      required: true,
      placeholder: 'G-ABC1234567',
      help_text: 'Admin, Data streams, your web stream.',
      pattern: '^G-[A-Z0-9]{4,16}$',
      pattern_hint: 'a measurement id such as G-ABC1234567',
    },
    {
      key: 'api_secret',
      label: 'API secret',
      type: 'secret',
      required: true,
      placeholder: 'aB3dE5fG7hI9jK1lM3nO5p',
      help_text: 'Data streams, your stream, Measurement Protocol API secrets.',
    },
    {
      key: 'data_region',
      label: 'Collection region',
      type: 'select',
      required: false,
      placeholder: 'global',
      help_text: 'eu keeps collection on servers in the European Union.',
      options: ['global', 'eu'],
      default: 'global',
    },
  ],
  requests: [
    { ...collect('region1.google-analytics.com'), when: { field: 'parameters.data_region', op: 'eq', value: 'eu' } },
    collect('www.google-analytics.com'),
  ],
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
  compact: [{ path: 'events[0].params.items', needs: ['item_id', 'item_name'] }],
  default_action: 'drop',
  timeout_ms: 30_000,
  rate: { rps: 500, burst: 1_000 },
  concurrency: 16,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Page views, sign-ups, searches and orders under Google’s names; every other event under its own.',
      default_config: blueprint({ ...MEDIA, ...TRAVEL, ...RETAIL }),
    },
    { key: 'retail', name: 'Retail', description: 'The whole e-commerce event set with items.', default_config: blueprint(RETAIL) },
    { key: 'travel', name: 'Travel', description: 'Searches, offers and bookings.', default_config: blueprint(TRAVEL) },
    { key: 'media', name: 'Media', description: 'Articles, video and subscriptions.', default_config: blueprint(MEDIA) },
  ],
});
