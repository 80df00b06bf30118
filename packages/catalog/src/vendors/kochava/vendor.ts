/** Kochava post-install events. support.kochava.com, post-install event setup, and public integrations, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { APP_CALLS_ONLY, adEvents, orOwnName } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { deviceIds, EEA_FIELD } from '../shared/device.ts';
import { text } from '../shared/fields.ts';
import { event, from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const data = into('data');
const device = (name: string) => `data.device_ids.${name}`;
const { purchase, booking, subscription } = adLines({ value: 'data.event_data.sum', currency: 'data.currency' });
/** Consent signals for people in the EEA, as 1 and 0. Unknown consent is none. */
const IN_EEA = { when: { field: 'parameters.eea', op: 'eq', value: true } };
const consent = (name: string) =>
  data(source.AD_CONSENT, `gdpr_privacy_consent.${name}`, ['to_boolean'], { value_map: { true: 1, false: 0 }, default: 0, ...IN_EEA });

const variants = blueprints({
  names: orOwnName(
    adEvents({
      search: 'Search',
      view: 'View',
      cart: 'Add to Cart',
      wishlist: 'Add to Wish List',
      checkout: 'Checkout Start',
      purchase: 'Purchase',
      registration: 'Registration Complete',
      trial: 'Start Trial',
      subscribe: 'Subscribe',
      review: 'Rating',
      onboarding: 'Tutorial Complete',
    }),
  ),
  global: [
    set('action', 'event'),
    from('parameters.app_guid', 'kochava_app_id'),
    // Required, and empty for a device that is known by its other ids.
    from('context.vendor_ids.kochava_device_id', 'kochava_device_id', [], { default: '' }),
    data('properties', 'event_data', [use('omit', 'products', 'email', 'phone', 'first_name', 'last_name', 'address')]),
    data('event_id', 'event_data.event_id'),
    data('timestamp', 'usertime', ['to_unix_seconds']),
    data('context.app.version', 'app_version', ['to_string']),
    // Required, and empty in events after the installation.
    set('data.device_ver', ''),
    data('context.ip', 'origination_ip', [], { required: true }),
    data('context.user_agent', 'device_ua', ['url_encode'], { required: true }),
    data(TRACKING_ENABLED, 'device_limit_tracking', ['to_boolean'], { value_map: { true: false, false: true } }),
    // Kochava ignores the IDFA of a device whose answer to Apple's prompt is unknown.
    data(TRACKING_ENABLED, 'app_tracking_transparency.att', ['to_boolean'], { when: source.IS_APPLE }),
    set('data.gdpr_privacy_consent.gdpr_applies', 1, IN_EEA),
    consent('ad_user_data'),
    consent('ad_personalization'),
    ...deviceIds({ idfa: device('idfa'), idfv: device('idfv'), aaid: device('adid'), android_id: device('android_id') }),
  ],
  lines: { purchase, booking, subscription },
  others: { ...APP_CALLS_ONLY, '@screen': event('screen_view', [data('name', 'event_data.screen_name')]) },
  defaults: { action: 'map' },
});

/** The body decides inside a 200. */
const ANSWERS: AnswerRule[] = [
  { status: ['2xx'], when: { field: 'body.success', op: 'in', value: ['0', 0, false] }, verdict: 'refused', reason: 'body.error' },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'kochava',
  name: 'Kochava',
  description: 'Post-install events from your server into Kochava, for mobile attribution.',
  category: 'attribution',
  group: 'attribution',
  status: 'beta',
  website: 'https://support.kochava.com/reference-information/post-install-event-setup/',
  api_version: { version: 'track/json', checked: '2026-11-16' },
  setup_steps: [
    'In Kochava open Apps & Assets, App Manager, your app, and copy the app GUID.',
    'Use the GUID of a sandbox app for a first event.',
    'Send the Kochava device ID with every event, as context.vendor_ids.kochava_device_id, or an advertising id.',
  ],
  see_it: 'Open Apps & Assets, the app, Event Manager, or Analytics, Data logs.',
  notes: [
    'Open: the error answers, the name sum, device_limit_tracking and att were seen in public integrations, not in Kochava’s documentation.',
    'Kochava drops the IDFA of an event of iOS 14 or later without the answer to Apple’s prompt: send context.device.ad_tracking_enabled.',
    'For apps with users in the EEA switch on the setting: Kochava passes the consent on to Google.',
    'Kochava requires the IP address and the user agent of the device (URL-encoded). Events without them are dropped.',
    'Accounts with Free App Analytics get a success answer, and the event is dropped by Kochava.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('app_guid', 'App GUID', 'koexample-app-ab12c', 'Apps & Assets, App Manager, your app.', {
      pattern: '^[A-Za-z0-9._-]{3,80}$',
      pattern_hint: 'an app GUID',
    }),
    EEA_FIELD,
  ],
  request: { method: 'POST', url: 'https://control.kochava.com/track/json', body: { kind: 'json' }, answers: ANSWERS },
  event_name: { target: 'data.event_name' },
  require_one_of: [['kochava_device_id', 'data.device_ids']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
