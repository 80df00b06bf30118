/** Singular server-to-server events, v1. support.singular.net, S2S API endpoint reference, and the names of Singular's SDK, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { APP_CALLS_ONLY, adEvents, orOwnName } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { deviceIds } from '../shared/device.ts';
import { secret } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const { purchase, booking, subscription } = adLines({ value: 'amt', currency: 'cur' });
const REVENUE = set('is_revenue_event', 'true', { when: { field: 'properties.currency', op: 'exists' } });

const variants = blueprints({
  names: orOwnName({
    ...adEvents({
      search: 'sng_search',
      list: 'sng_content_view_list',
      view: 'sng_content_view',
      cart: 'sng_add_to_cart',
      view_cart: 'sng_view_cart',
      wishlist: 'sng_add_to_wishlist',
      checkout: 'sng_checkout_initiated',
      payment: 'sng_add_payment_info',
      registration: 'sng_complete_registration',
      login: 'sng_login',
      trial: 'sng_start_trial',
      subscribe: 'sng_subscribe',
      share: 'sng_share',
      review: 'sng_rate',
      invite: 'sng_invite',
      onboarding: 'sng_tutorial_complete',
      purchase: 'sng_ecommerce_purchase',
    }),
    'Booking Completed': 'sng_book',
  }),
  global: [
    from('parameters.sdk_key', 'a'),
    set('p', 'Android', { when: source.IS_ANDROID }),
    set('p', 'iOS', { when: source.IS_APPLE }),
    from('context.app.namespace', 'i', [], { required: true }),
    from('context.ip', 'ip', [], { when: source.IS_IPV4 }),
    from('context.os.version', 've', ['to_string'], { required: true }),
    ...deviceIds({ idfa: 'idfa', idfv: 'idfv', aaid: 'aifa' }),
    // 0 undetermined, 2 denied, 3 authorized.
    from(TRACKING_ENABLED, 'att_authorization_status', ['to_boolean'], {
      value_map: { true: '3', false: '2' },
      default: '0',
      when: source.IS_APPLE,
    }),
    from('context.vendor_ids.asid', 'asid', [], { when: source.IS_ANDROID }),
    // For devices without the services of Google.
    from('context.device.id', 'andi', [], {
      when: {
        all: [source.IS_ANDROID, { not: source.HAS_ADVERTISING_ID }, { field: 'context.vendor_ids.asid', op: 'not_exists' }],
      },
    }),
    from('user_id', 'custom_user_id'),
    from('timestamp', 'utime', ['to_unix_seconds']),
    from('properties', 'e', [use('omit', 'products', 'email', 'phone', 'first_name', 'last_name', 'address')]),
  ],
  lines: { purchase: [...purchase, REVENUE], booking: [...booking, REVENUE], subscription: [...subscription, REVENUE] },
  others: { ...APP_CALLS_ONLY, '@screen': event('screen_view', [from('name', 'e.screen_name')]) },
  defaults: { action: 'map' },
});

/** The body decides inside a 200. */
const ANSWERS: AnswerRule[] = [
  { status: ['2xx'], when: { field: 'body.status', op: 'eq', value: 'error' }, verdict: 'refused', reason: 'body.reason' },
  // Every other status means: try again.
  { status: ['4xx'], verdict: 'unavailable', reason: 'body.reason' },
];

export default defineVendor({
  key: 'singular',
  name: 'Singular',
  description: 'In-app events from your server into Singular, for mobile attribution.',
  category: 'attribution',
  group: 'attribution',
  status: 'beta',
  website: 'https://support.singular.net/hc/en-us/articles/31496864868635-Server-to-Server-EVENT-Endpoint-API-Reference',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'In Singular open Developer tools, SDK integration, SDK keys, and copy the SDK key.',
    'Report sessions with the Singular SDK or the launch endpoint first: events of a device without a session are inconsistent.',
  ],
  see_it: 'Open Developer tools, Testing console, and add the device; real events show in Reports within the hour.',
  notes: [
    'Accounts that Singular created since 15 July 2026 use version 2 of the API with a Singular device ID (sdid), which is not supported here.',
    'Open: the parameters of events (e, amt, cur, is_revenue_event, utime, att_authorization_status) were seen in public integrations. The standard names are those of Singular’s SDK.',
    'The answer to Apple’s tracking prompt comes from context.device.ad_tracking_enabled; without it 0 (undetermined) is sent.',
    'Singular asks to repeat a call with any status but 200, so even a 400 is sent again until the event is given up.',
    'Singular does not deduplicate: an event whose answer was lost is sent, and counted, twice.',
    'Server-to-server integration needs an enterprise plan.',
    'Open: two copies of Singular’s pages disagree about IPv6 addresses. Events with an IPv6 address are dropped.',
  ],
  default_consent_category: 'advertising',
  config_fields: [secret('sdk_key', 'SDK key', 'your_org_name_sh868sdjv', 'Developer tools, SDK integration, SDK keys.')],
  request: {
    method: 'GET',
    url: 'https://s2s.singular.net/api/v1/evt',
    body: { kind: 'query' },
    answers: ANSWERS,
  },
  event_name: { target: 'n', max_length: 32 },
  together: [['amt', 'cur']],
  require_one_of: [['p'], ['ip'], ['idfa', 'idfv', 'aifa', 'asid', 'andi']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
