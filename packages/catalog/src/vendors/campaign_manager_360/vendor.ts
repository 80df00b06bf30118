/** Campaign Manager 360 API v5, conversions.batchinsert. developers.google.com/doubleclick-advertisers/rest/v5, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, PartialRule } from '@firsthand/core/vendor/definition.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT, resultPerEvent } from '../shared/answers.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { blueprints } from '../shared/blueprints.ts';
import { adConsent, advertisingId } from '../shared/device.ts';
import { digits, eventTable, flag, text } from '../shared/fields.ts';
import { from, set } from '../shared/mapping.ts';
import { connectTo, oauthFields, refreshTokenOf } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';

const no = (...fields: string[]) => fields.map((field) => ({ field, op: 'not_exists' }));
const CLICKS = ['context.click_ids.gclid', 'context.click_ids.dclid'];

const variants = blueprints({
  // Floodlight activities have ids. The table enables an event and gives its activity.
  names: {},
  global: [
    from('parameters.floodlight_configuration_id', 'floodlightConfigurationId'),
    from('timestamp', 'timestampMicros', ['to_unix_micros', 'to_string']),
    // Conversions of one user on one day with the same ordinal are one conversion.
    from([...source.ORDER_ID, 'event_id'], 'ordinal', ['to_string']),
    set('quantity', '1'),
    set('value', 0),
    // Exactly one of these.
    from(CLICKS[0] ?? '', 'gclid'),
    from(CLICKS[1] ?? '', 'dclid', [], { when: { all: no(CLICKS[0] ?? '') } }),
    advertisingId('mobileDeviceId', [], ...no(...CLICKS)),
    from('user_id', 'matchId', [], {
      when: { all: [{ field: 'parameters.send_match_id', op: 'eq', value: true }, ...no(...CLICKS), { not: source.HAS_ADVERTISING_ID }] },
    }),
    from(TRACKING_ENABLED, 'limitAdTracking', ['to_boolean'], { value_map: { true: false, false: true } }),
    set('nonPersonalizedAd', true, { when: source.AD_DENIED }),
    ...adConsent(['adUserDataConsent'], ['GRANTED', 'DENIED']),
  ],
  lines: adLines({ value: 'value' }),
});

const partial = (failed: PartialRule['failed']) =>
  resultPerEvent('body.status', { field: 'errors[0]', op: 'not_exists' }, 'errors[0].message', failed);
const ANSWERS: AnswerRule[] = [
  // An error of theirs: those events go again, together with the ones that will be rejected then.
  { status: [200], when: { field: 'body.status[*].errors[*].code', op: 'contains', value: 'INTERNAL' }, ...partial('unavailable') },
  { status: [200], ...partial('refused') },
  {
    status: [403],
    when: { field: 'body.error.errors[0].reason', op: 'in', value: ['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded'] },
    verdict: 'unavailable',
    reason: 'body.error.message',
  },
  { status: [400], verdict: 'refused', reason: 'body.error.message', isolate: true },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'campaign_manager_360',
  name: 'Campaign Manager 360',
  description: 'Offline and online conversions into Floodlight activities through the Campaign Manager 360 API.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://developers.google.com/doubleclick-advertisers/rest/v5/conversions/batchinsert',
  api_version: { version: 'v5', checked: '2026-11-16', ends: { v4: '2026-02-26' } },
  setup_steps: [
    'In Campaign Manager 360 copy your user profile ID, the Floodlight configuration ID and the ID of each Floodlight activity.',
    'In a Google Cloud project enable the Campaign Manager 360 API and create an OAuth client of the type Web application with the redirect URI of this installation (BASE_URL/v1/oauth/callback).',
    'Enter the client ID and secret, press Connect and sign in as the user of the profile.',
  ],
  see_it: 'Open the Floodlight activity: the count of conversions shows after the next processing, within a day.',
  notes: [
    'Google recommends the Data Manager API for new integrations: see the vendors google_data_manager and display_video_360.',
    'Google reads the value in the currency of the Floodlight configuration’s advertiser; there is no field for a currency.',
    'An event needs a gclid, a dclid or a mobile advertising id. With match ids on, the user id is sent if there is none of them.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('profile_id', 'User profile ID', '437689', 'Campaign Manager 360, Admin, Users, your profile.', digits()),
    text(
      'floodlight_configuration_id',
      'Floodlight configuration ID',
      '1234567',
      'Campaign Manager 360, the advertiser, Floodlight, Configuration.',
      digits(),
    ),
    eventTable(
      'activities',
      'Floodlight activities',
      text('activity_id', 'Activity ID', '7654321', 'Campaign Manager 360, the advertiser, Floodlight, Activities.', digits()),
      'Events and the Floodlight activity of each. A row enables its event.',
    ),
    flag('send_match_id', 'Send match IDs', 'Sends the user id as matchId, if your site gives Floodlight the same ids.'),
    ...oauthFields({
      help_text: 'Google Cloud console, APIs & Services, Credentials, an OAuth client of the type Web application.',
      client_id: '123456789012-abc.apps.googleusercontent.com',
      client_secret: 'GOCSPX-0123456789abcdef',
      refresh_token: '1//0gExampleRefreshToken',
    }),
  ],
  connect: connectTo('google', ['https://www.googleapis.com/auth/ddmconversions']),
  request: {
    method: 'POST',
    url: 'https://dfareporting.googleapis.com/dfareporting/v5/userprofiles/{{parameters.profile_id}}/conversions/batchinsert',
    auth: refreshTokenOf('google'),
    body: { kind: 'json_list', under: 'conversions' },
    batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 5_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'floodlightActivityId' },
  event_table: { field: 'activities', event: 'event', vendor_event_name: 'activity_id' },
  require_one_of: [['gclid', 'dclid', 'mobileDeviceId', 'matchId']],
  max_event_age_hours: 672,
  default_action: 'drop',
  rate: { rps: 1, burst: 1, daily: 50_000 },
  concurrency: 1,
  variants,
});
