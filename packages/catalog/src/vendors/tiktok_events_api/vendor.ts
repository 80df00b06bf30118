import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, Variant } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { flag, optionalText, secret, text } from '../shared/fields.ts';
import { event, from } from '../shared/mapping.ts';
import { OWN_PAGE_URL } from '../shared/sources.ts';
import { GLOBAL, IS_APP, prop } from './mappings.ts';
import { RETAIL } from './retail.ts';
import { ALL, VERTICALS } from './verticals.ts';

/**
 * TikTok's names of app events, by the name of the web event that means the same: tiktok/tiktok-business-android-sdk, EventName.java and
 * contents/TTContentsEventConstants, read on 2026-11-19. Other names are the same in both.
 */
const APP_NAMES: Readonly<Record<string, string>> = {
  CompleteRegistration: 'Registration',
  InitiateCheckout: 'Checkout',
  Lead: 'GenerateLead',
  ProductReviewed: 'Rate',
};
/** Events that TikTok names in apps only. */
const APP_ONLY: Readonly<Record<string, string>> = {
  'Onboarding Completed': 'CompleteTutorial',
  'Demo Requested': 'GenerateLead',
};
/** An event of an app gets the app's name, any other the web's. */
const withAppNames = (events: Record<string, JsonObject>): JsonObject =>
  Object.fromEntries(
    Object.entries(events).map(([name, entry]) => {
      const inApp = APP_ONLY[name] ?? APP_NAMES[String(entry.vendor_event_name)];
      return [name, inApp === undefined ? entry : [{ ...entry, enabled: true, vendor_event_name: inApp, filter: IS_APP }, entry]];
    }),
  );

const blueprint = (events: Record<string, JsonObject>): JsonObject => ({
  version: 2,
  global: GLOBAL,
  events: {
    '@page': event('Pageview', [prop('name', 'description'), from(OWN_PAGE_URL, 'page.url')]),
    '@screen': event('ViewContent', [prop('name', 'description')]),
    'Application Installed': event('InstallApp', []),
    'Application Opened': event('LaunchAPP', []),
    ...withAppNames(events),
  },
  defaults: { action: 'drop' },
});

const eventsOf = (variant: Variant | undefined) => (variant?.default_config.events ?? {}) as Record<string, JsonObject>;

/** TikTok answers HTTP 200 for errors too; `code` decides. */
const ANSWERS: AnswerRule[] = [
  { status: [200], when: { field: 'body.code', op: 'eq', value: 0 }, verdict: 'delivered' },
  // RudderStack counts this code as delivered, too. What it means is not public, so TikTok's message is kept as a note.
  { status: [200], when: { field: 'body.code', op: 'eq', value: 20001 }, verdict: 'delivered', reason: 'body.message' },
  {
    when: { field: 'body.code', op: 'in', value: [40100, 40016, 40132, 40133, 40700, 60001] },
    verdict: 'unavailable',
    reason: 'body.message',
  },
  {
    when: {
      all: [
        { field: 'body.code', op: 'gte', value: 50000 },
        { field: 'body.code', op: 'lt', value: 60000 },
      ],
    },
    verdict: 'unavailable',
    reason: 'body.message',
  },
  // A wrong access token concerns every event.
  { when: { field: 'body.code', op: 'in', value: [40001, 40101, 40102, 40104, 40105] }, verdict: 'refused', reason: 'body.message' },
  { when: { field: 'body.code', op: 'exists' }, verdict: 'refused', reason: 'body.message', isolate: true },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'tiktok_events_api',
  name: 'TikTok Events API',
  description: 'Web events into a TikTok pixel through Events API 2.0, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://business-api.tiktok.com/portal/docs?id=1771100865818625',
  api_version: { version: 'v1.3', checked: '2026-11-16' },
  setup_steps: [
    'In TikTok Events Manager select the web data source and copy its pixel code.',
    'Open Settings, Events API, and generate an access token.',
  ],
  see_it: 'Open Events Manager, the data source: Test events for events with a test event code, Overview for others.',
  test_mode: { field: 'test_event_code', effect: 'Events with the code of the page Test events show there.' },
  default_consent_category: 'advertising',
  config_fields: [
    text('pixel_code', 'Pixel code', 'C4ABCDEFGHIJKLMNOPQ0', 'Events Manager, your web data source.', {
      pattern: '^[A-Za-z0-9]{5,64}$',
      pattern_hint: 'the letters and digits of a pixel code',
    }),
    secret(
      'access_token',
      'Access token',
      '4ed4cd2fexampletoken0123456789abcdef',
      'Events Manager, Settings, Events API, Generate access token.',
    ),
    optionalText('test_event_code', 'Test event code', 'TEST12345', 'Shows events under Test events; leave empty in production.'),
    optionalText(
      'app_id',
      'TikTok app ID',
      '7123456789012345678',
      'For app events: Events Manager, your app data source. Without it app events are sent as web events.',
      { pattern: '^[A-Za-z0-9]{5,64}$', pattern_hint: 'the digits of an app id' },
    ),
    flag('limited_data_use', 'Limited Data Use', 'Marks every event with limited_data_use.'),
  ],
  requests: (['app', 'web'] as const).map((source) => ({
    name: source,
    when: { field: 'payload.event_source', op: 'eq', value: source },
    lane: ['event_source'],
    method: 'POST',
    url: 'https://business-api.tiktok.com/open_api/v1.3/event/track/',
    auth: { kind: 'header', name: 'Access-Token', value: '{{parameters.access_token}}' },
    body: {
      kind: 'json_list',
      under: 'data',
      common: {
        event_source: source,
        event_source_id: source === 'app' ? '{{parameters.app_id}}' : '{{parameters.pixel_code}}',
        test_event_code: '{{parameters.test_event_code}}',
        partner_name: 'Firsthand',
      },
    },
    batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 1_000 },
    answers: ANSWERS,
  })),
  event_name: { target: 'event', max_length: 50 },
  require_one_of: [['user.email', 'user.phone', 'user.external_id', 'user.ttclid', 'user.ttp', 'user.ip']],
  compact: [{ path: 'properties.contents', needs: ['content_id'] }],
  default_action: 'drop',
  rate: { rps: 500, burst: 1_000 },
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Page views, searches, product views, carts, checkouts, purchases, registrations and leads.',
      default_config: blueprint({ ...eventsOf(ALL), ...RETAIL }),
    },
    { key: 'retail', name: 'Retail', description: 'The whole e-commerce event set.', default_config: blueprint(RETAIL) },
    ...VERTICALS.map((variant) => ({ ...variant, default_config: blueprint(eventsOf(variant)) })),
  ],
});
