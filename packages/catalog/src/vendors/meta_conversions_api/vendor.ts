import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { flag, optionalText, secret, select, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import { OWN_PAGE_URL } from '../shared/sources.ts';
import { data, GLOBAL } from './mappings.ts';
import { RETAIL } from './retail.ts';
import { MEDIA, SAAS, TRAVEL } from './verticals.ts';

const blueprint = (events: Record<string, JsonObject>): JsonObject => ({
  version: 2,
  global: GLOBAL,
  events: {
    '@page': event('PageView', [data('name', 'content_name'), from(OWN_PAGE_URL, 'event_source_url')]),
    '@screen': event('ViewContent', [data('name', 'content_name')]),
    ...events,
  },
  defaults: { action: 'drop' },
});

const ANSWERS: AnswerRule[] = [
  // Temporary errors and throttling are HTTP 400 with a code.
  {
    when: { field: 'body.error.code', op: 'in', value: [1, 2, 4, 17, 32, 341, 368, 613, 5000, 80003, 80004] },
    verdict: 'unavailable',
    reason: 'body.error.message',
  },
  { when: { field: 'body.error.is_transient', op: 'eq', value: true }, verdict: 'unavailable', reason: 'body.error.message' },
  RETRY_TIMEOUT,
  // The API answers in JSON. An HTML page comes from a gateway, which has not judged the events.
  { status: ['4xx'], when: { field: 'body', op: 'matches', value: '^\\s*<' }, verdict: 'unavailable' },
  // A wrong token or permission concerns every event.
  { when: { field: 'body.error.code', op: 'in', value: [3, 10, 102, 190, 200] }, verdict: 'refused', reason: 'body.error.message' },
  // One bad event fails the whole request.
  { status: ['4xx'], when: { field: 'body.error.code', op: 'exists' }, verdict: 'refused', reason: 'body.error', isolate: true },
];

export default defineVendor({
  key: 'meta_conversions_api',
  name: 'Meta Conversions API',
  description: 'Web, app and offline events into a Meta pixel or dataset, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://developers.facebook.com/docs/marketing-api/conversions-api',
  api_version: { version: 'v26.0', checked: '2026-11-16', field: 'api_version', ends: { 'v24.0': '2026-10-06' } },
  setup_steps: [
    'In Meta Events Manager select the dataset (pixel) and copy its ID.',
    'Open Settings, Conversions API, and generate an access token.',
  ],
  see_it: 'Open Events Manager, your dataset: Test events for events with a test event code, Overview for all others after some minutes.',
  // facebook/facebook-nodejs-business-sdk, src/objects/serverside/event-request.js
  test_mode: { field: 'test_event_code', effect: 'Events with the code of the page Test events show there. They still count.' },
  default_consent_category: 'advertising',
  config_fields: [
    text('pixel_id', 'Pixel or dataset ID', '1234567890123456', 'Events Manager, Data sources.', {
      pattern: '^\\d{5,20}$',
      pattern_hint: 'the digits of a pixel or dataset id',
    }),
    secret(
      'access_token',
      'Access token',
      'EAABsbCS1iHgBAexampletoken',
      'Events Manager, Settings, Conversions API, Generate access token.',
    ),
    optionalText('test_event_code', 'Test event code', 'TEST12345', 'Shows events under Test events; leave empty in production.'),
    optionalText('api_version', 'Graph API version', 'v26.0', 'Version of the Graph API.', {
      default: 'v26.0',
      pattern: '^v\\d{1,3}\\.\\d$',
      pattern_hint: 'a version such as v26.0',
    }),
    select(
      'action_source',
      'Action source',
      ['auto', 'website', 'app', 'email', 'phone_call', 'chat', 'physical_store', 'system_generated', 'business_messaging', 'other'],
      'auto: app for app events, website for events with a page, system_generated for the rest.',
    ),
    flag('limited_data_use', 'Limited Data Use', 'Sends data_processing_options LDU with every event; Meta determines the place.'),
  ],
  request: {
    method: 'POST',
    url: 'https://graph.facebook.com/{{parameters.api_version}}/{{parameters.pixel_id}}/events',
    auth: { kind: 'bearer', token: '{{parameters.access_token}}' },
    body: { kind: 'json_list', under: 'data', common: { test_event_code: '{{parameters.test_event_code}}', partner_agent: 'firsthand' } },
    batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 1_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'event_name', max_length: 50 },
  require_one_of: [
    [
      'user_data.em',
      'user_data.ph',
      'user_data.external_id',
      'user_data.madid',
      'user_data.fbc',
      'user_data.fbp',
      'user_data.client_ip_address',
      'user_data.ln',
    ],
  ],
  limits: [{ path: 'custom_data', scalars_only: true, keep: ['content_ids', 'contents'] }],
  max_event_age_hours: 168,
  compact: [{ path: 'custom_data.contents', needs: ['id'] }],
  default_action: 'drop',
  rate: { rps: 100, burst: 200 },
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Page views, searches, product views, carts, checkouts, purchases, registrations and leads.',
      default_config: blueprint({ ...SAAS, ...MEDIA, ...TRAVEL, ...RETAIL }),
    },
    { key: 'retail', name: 'Retail', description: 'The whole e-commerce event set.', default_config: blueprint(RETAIL) },
    {
      key: 'travel',
      name: 'Travel',
      description: 'Searches, offers and bookings for travel catalogues.',
      default_config: blueprint(TRAVEL),
    },
    { key: 'media', name: 'Media', description: 'Articles, video, trials and subscriptions.', default_config: blueprint(MEDIA) },
    { key: 'saas', name: 'SaaS', description: 'Sign-ups, trials, invites, features and plans.', default_config: blueprint(SAAS) },
  ],
});
