/**
 * Amazon Ads Events API, adsApi v1. Fields from amzn/ads-advanced-tools-docs (age and value: conversions_api/…/using-the-template.md) and
 * Segment's definitions, read on 2026-11-19.
 */

import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { errorInside, oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { actionSource, adConsent, advertisingId } from '../shared/device.ts';
import { optionalText, select, text } from '../shared/fields.ts';
import { event, from, set, type Transform, use } from '../shared/mapping.ts';
import { oauthFields, refreshTokenAt } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { PHONE_COUNTRY } from '../shared/user-data.ts';

/** Lower case, letters and digits only. */
const PLAIN: Transform[] = ['lowercase', use('replace', '[^a-z0-9]')];
const KEYS: [type: string, sources: string[], transforms: Transform[]][] = [
  ['EMAIL', source.EMAIL, ['normalize_email', 'sha256']],
  ['PHONE', source.PHONE, [use('normalize_phone_digits', PHONE_COUNTRY), 'sha256']],
  ['FIRST_NAME', source.FIRST_NAME, [...PLAIN, 'sha256']],
  ['LAST_NAME', source.LAST_NAME, [...PLAIN, 'sha256']],
  ['ADDRESS', source.STREET, [...PLAIN, 'sha256']],
  ['CITY', source.CITY, [...PLAIN, 'sha256']],
  ['STATE', source.STATE, [...PLAIN, 'sha256']],
  ['POSTAL', source.POSTAL_CODE, ['lowercase', use('replace', '\\s+'), 'sha256']],
];
const MATCH_KEYS = [
  ...KEYS.flatMap(([type, sources, transforms], index): JsonObject[] => [
    set(`matchKeys[${index}].type`, type, { when: { any: sources.map((field) => ({ field, op: 'exists' })) } }),
    from(sources, `matchKeys[${index}].values[0]`, transforms),
  ]),
  set(`matchKeys[${KEYS.length}].type`, 'MAID', { when: source.HAS_ADVERTISING_ID }),
  advertisingId(`matchKeys[${KEYS.length}].values[0]`),
];

/** Amazon takes two decimal places at most. */
const lines = adLines({ value: 'value', value_steps: [use('round', 2)], currency: 'currencyCode', count: 'unitsSold' });
const variants = blueprints({
  names: adEvents({
    search: 'SEARCH',
    view: 'PAGE_VIEW',
    cart: 'ADD_TO_SHOPPING_CART',
    checkout: 'CHECKOUT',
    purchase: 'OFF_AMAZON_PURCHASES',
    registration: 'SIGN_UP',
    lead: 'LEAD',
    subscribe: 'SUBSCRIBE',
  }),
  global: [
    from('event', 'eventDescription.name'),
    ...actionSource('eventDescription.eventSource', { other: 'OFFLINE', web: 'WEBSITE', android: 'ANDROID', ios: 'IOS' }),
    set('eventDescription.eventIngestionMethod', 'SERVER_TO_SERVER'),
    from('parameters.data_set_name', 'eventDescription.dataSetName'),
    from('parameters.country_code', 'countryCode'),
    from(source.COUNTRY, 'countryCode', ['country_code', 'uppercase']),
    from('timestamp', 'eventTime', ['to_iso8601']),
    from('event_id', 'eventId'),
    ...adConsent(['consent.amazonConsent.amznAdStorage', 'consent.amazonConsent.amznUserData'], ['GRANTED', 'DENIED']),
    from('context.ip', 'consent.geo.ipAddress'),
    ...MATCH_KEYS,
  ],
  // Amazon reads value, currency and units of purchases only.
  lines: { purchase: lines.purchase, booking: lines.booking },
  others: {
    '@page': event('PAGE_VIEW', [set('eventDescription.name', 'Page View'), from('name', 'eventDescription.name')]),
    'Application Installed': event('MOBILE_APP_FIRST_START', []),
  },
});

const ANSWERS: AnswerRule[] = [
  // Errors come inside a 207. Whether their index starts at 0 or 1 differs between versions, so a mixed batch is sent again one by one;
  // Amazon deduplicates by eventId.
  errorInside({ field: 'body.error[0]', op: 'exists' }, 'body.error[0].errors[0].message'),
  ...oneBadFailsAll('body.message'),
];
const HOSTS = {
  'https://advertising-api.amazon.com': refreshTokenAt('https://api.amazon.com/auth/o2/token'),
  'https://advertising-api-eu.amazon.com': refreshTokenAt('https://api.amazon.co.uk/auth/o2/token'),
  'https://advertising-api-fe.amazon.com': refreshTokenAt('https://api.amazon.co.jp/auth/o2/token'),
};

export default defineVendor({
  key: 'amazon_ads',
  name: 'Amazon Ads',
  description: 'Website, app and offline conversions into Amazon Ads through the Events API.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://advertising.amazon.com/API/docs/en-us/guides/events/events',
  api_version: { version: 'v1', checked: '2026-11-19' },
  setup_steps: [
    'Register an application for the Amazon Ads API and create a Login with Amazon security profile.',
    'Authorise it with a user of the advertiser account (scope advertising::campaign_management) and keep the refresh token.',
    'Copy the ID of the advertiser account. Amazon creates a conversion definition for each event name by itself.',
  ],
  see_it: 'Open Events manager of the advertiser account: the conversion definition of the event shows its last event.',
  notes: [
    'Open: whether the index of an error in a 207 answer starts at 0. A mixed batch is therefore sent again one by one.',
    'Open: the telephone number before hashing. Amazon’s own sample keeps a leading plus, a public integration and the blueprint hash digits only.',
    'Open: a public integration knows 18 currencies. That was not seen at Amazon.',
    'Amazon takes events of the last 21 days, and amounts of two decimal places, to which others are rounded.',
    'A conversion definition is the pair of event name and type. Renaming an event creates a new one.',
    'In the EU region Amazon requires consent: the blueprint sends the advertising consent and the IP address.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    select(
      'region',
      'Region',
      Object.keys(HOSTS),
      'North America, Europe (advertising-api-eu) or Far East (advertising-api-fe): where the advertiser account is.',
    ),
    text(
      'account_id',
      'Advertiser account ID',
      'amzn1.ads-account.g.example123',
      'Amazon Ads console, account settings; or GET /adsAccounts.',
      { pattern: '^[A-Za-z0-9._-]{3,100}$', pattern_hint: 'an Amazon Ads account id' },
    ),
    ...oauthFields({
      help_text: 'Login with Amazon console, security profile, Web settings.',
      client_id: 'amzn1.application-oa2-client.0123456789abcdef',
      client_secret: 'amzn1.oa2-cs.v1.example0123456789',
      refresh_token: 'Atzr|IwEBExampleRefreshToken',
    }),
    text('country_code', 'Default country', 'US', 'Country of events whose user has no address.', {
      pattern: '^[A-Z]{2}$',
      pattern_hint: 'two capital letters, such as US',
    }),
    optionalText('data_set_name', 'Data set name', 'web_events', 'Groups events in reports. Optional.', {
      pattern: '^[A-Za-z][A-Za-z0-9_-]*$',
      pattern_hint: 'letters, digits, underscores and dashes, beginning with a letter',
    }),
  ],
  request: {
    method: 'POST',
    url: '{{parameters.region}}/adsApi/v1/create/events',
    headers: { 'Amazon-Ads-ClientId': '{{parameters.client_id}}', 'Amazon-Ads-AccountId': '{{parameters.account_id}}' },
    auth: { kind: 'choice', field: 'region', options: HOSTS },
    body: { kind: 'json_list', under: 'events' },
    batch: { max_items: 500, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'eventDescription.conversionType' },
  compact: [{ path: 'matchKeys', needs: ['values'] }],
  together: [['value', 'currencyCode']],
  require_one_of: [['matchKeys']],
  max_event_age_hours: 504,
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
