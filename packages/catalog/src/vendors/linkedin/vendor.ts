/** LinkedIn Conversions API, version 202608. Fields from learn.microsoft.com/linkedin and LinkedIn's Postman collection, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT, resultPerEvent } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { digits, eventTable, optionalSecret, optionalText, select, text } from '../shared/fields.ts';
import { from, set } from '../shared/mapping.ts';
import { connectTo, oauthFields, refreshTokenOf } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';

const when = (sources: readonly string[]) => ({ when: { any: sources.map((field) => ({ field, op: 'exists' })) } });
const CLICK = source.clickId('li_fat_id', 'li_fat_id');

const variants = blueprints({
  // LinkedIn has no standard events. The table of conversion rules enables an event and gives its rule.
  names: {},
  global: [
    from('timestamp', 'conversionHappenedAt', ['to_unix_millis']),
    from('event_id', 'eventId'),
    // LinkedIn requires the list, even if it is empty.
    set('user.userIds', []),
    set('user.userIds[0].idType', 'SHA256_EMAIL', when(source.EMAIL)),
    from(source.EMAIL, 'user.userIds[0].idValue', ['normalize_email', 'sha256']),
    set('user.userIds[1].idType', 'LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID', when(CLICK)),
    from(CLICK, 'user.userIds[1].idValue'),
    from(source.FIRST_NAME, 'user.userInfo.firstName', ['trim']),
    from(source.LAST_NAME, 'user.userInfo.lastName', ['trim']),
    from(['traits.title', 'traits.job_title', 'context.traits.title'], 'user.userInfo.title'),
    from(['traits.company.name', 'traits.company', 'context.traits.company.name', 'context.traits.company'], 'user.userInfo.companyName', [
      'to_string',
    ]),
    from(source.COUNTRY, 'user.userInfo.countryCode', ['country_code', 'uppercase']),
  ],
  lines: adLines({ value: 'conversionValue.amount', value_steps: ['to_string'], currency: 'conversionValue.currencyCode' }),
});

const ANSWERS: AnswerRule[] = [
  { status: ['2xx'], ...resultPerEvent('body.elements', { field: 'status', op: 'lt', value: 300 }, 'error.message') },
  { status: [401], when: { field: 'body.code', op: 'eq', value: 'REVOKED_ACCESS_TOKEN' }, verdict: 'refused', reason: 'body.message' },
  { status: [400, 422], verdict: 'refused', reason: 'body.message', isolate: true },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'linkedin',
  name: 'LinkedIn Conversions API',
  description: 'Online and offline conversions into LinkedIn conversion rules, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://learn.microsoft.com/en-us/linkedin/marketing/integrations/ads-reporting/conversions-api',
  api_version: {
    version: '202608',
    checked: '2026-11-16',
    field: 'linkedin_version',
    ends: { '202510': '2026-10-15', '202511': '2026-11-16', '202601': '2027-01-15', '202602': '2027-02-15', '202603': '2027-03-16' },
  },
  setup_steps: [
    'In Campaign Manager open Measurement, Conversion tracking, and create a conversion of the type Conversions API for each event.',
    'Copy the ID of each conversion rule into the table below.',
    'Generate an access token (Data, Signals manager, Direct API), or create a LinkedIn app with the scopes rw_conversions and r_ads, choose oauth, enter its client ID and secret, and press Connect.',
  ],
  see_it: 'Open Measurement, Conversion tracking: the conversion turns to Active, with the time of the last event, within a day.',
  notes: [
    'LinkedIn ends a version about a year after its release. The end of 202608 is not published yet.',
    'An event needs an e-mail address, the click id li_fat_id, or a first and a last name.',
    'Names, title, company and country are sent without a hash, as LinkedIn asks; remove the lines if you do not want that.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    eventTable(
      'conversion_rules',
      'Conversion rules',
      text(
        'rule_id',
        'Rule ID',
        '104012',
        'Campaign Manager, Conversion tracking, the conversion.',
        digits('the digits of a conversion rule id'),
      ),
      'Events and the conversion rule of each. A row enables its event.',
    ),
    select(
      'authentication',
      'Authentication',
      ['access_token', 'oauth'],
      'access_token: a token from Campaign Manager. oauth: a LinkedIn app with a refresh token.',
    ),
    optionalSecret(
      'access_token',
      'Access token',
      'AQXexampletoken0123456789',
      'Campaign Manager, Data, Signals manager, Direct API, Generate access token.',
      { required_when: { field: 'authentication', equals: 'access_token' } },
    ),
    ...oauthFields(
      {
        help_text: 'LinkedIn Developers, your app, Auth.',
        client_id: '86abcdefghijkl',
        client_secret: 'WPL_AP1.exampleSecret',
        refresh_token: 'AQWexamplerefresh0123456789',
      },
      { field: 'authentication', equals: 'oauth' },
    ),
    optionalText('linkedin_version', 'API version', '202608', 'Year and month of the LinkedIn API version.', {
      default: '202608',
      pattern: '^20\\d{4}$',
      pattern_hint: 'year and month, such as 202608',
    }),
  ],
  connect: connectTo('linkedin', ['rw_conversions', 'r_ads'], { authentication: 'oauth' }),
  request: {
    method: 'POST',
    url: 'https://api.linkedin.com/rest/conversionEvents',
    headers: {
      'LinkedIn-Version': '{{parameters.linkedin_version}}',
      'X-Restli-Protocol-Version': '2.0.0',
      'X-RestLi-Method': 'BATCH_CREATE',
    },
    auth: {
      kind: 'choice',
      field: 'authentication',
      options: {
        access_token: { kind: 'bearer', token: '{{parameters.access_token}}' },
        oauth: refreshTokenOf('linkedin'),
      },
    },
    lane: ['rule'],
    fill: { conversion: 'urn:lla:llaPartnerConversion:{{lane.rule}}' },
    body: { kind: 'json_list', under: 'elements' },
    batch: { max_items: 5_000, max_bytes: 5_000_000, interval_ms: 5_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'rule' },
  event_table: { field: 'conversion_rules', event: 'event', vendor_event_name: 'rule_id' },
  compact: [{ path: 'user.userIds', needs: ['idValue'], keep_empty: true }],
  together: [
    ['conversionValue.amount', 'conversionValue.currencyCode'],
    ['user.userInfo.firstName', 'user.userInfo.lastName', 'user.userInfo'],
  ],
  require_one_of: [['user.userIds[0].idValue', 'user.userInfo.lastName']],
  max_event_age_hours: 2_160,
  default_action: 'drop',
  rate: { rps: 10, burst: 10, daily: 300_000 },
  variants,
});
