import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { errorInside, RETRY_TIMEOUT } from '../shared/answers.ts';
import { INGEST_ANSWERS, REQUEST_STATUS, WHOLE, WHOLE_ADDRESS } from '../shared/data-manager.ts';
import { eventTable, flag, optionalSecret, optionalText, select, text } from '../shared/fields.ts';
import { connectTo, oauthFields, refreshTokenOf } from '../shared/oauth.ts';
import { ADS_API, ALL, MEDIA, RETAIL, SAAS, TRAVEL } from './mappings.ts';

const OAUTH = refreshTokenOf('google');
const PARTIAL: AnswerRule[] = [
  {
    status: [200],
    when: { field: 'body.partialFailureError', op: 'exists' },
    verdict: 'partial',
    partial: {
      errors: 'body.partialFailureError.details[*].errors[*]',
      index: 'location.fieldPathElements[0].index',
      reason: 'message',
      failed: 'unavailable',
      // developers.google.com/google-ads/api/docs/best-practices/error-types: these two may pass.
      permanent: { not: { field: 'errorCode.internalError', op: 'in', value: ['INTERNAL_ERROR', 'TRANSIENT_ERROR'] } },
      others: 'delivered',
    },
  },
  errorInside({ field: 'body.partialFailureError.code', op: 'gt', value: 0 }, 'body.partialFailureError.message', [200]),
];
const DIGITS = { pattern: '^\\d{4,20}$', pattern_hint: 'digits only, without dashes' };

/**
 * Since 15 June 2026 Google takes click conversions of new adopters only through the Data Manager API; the Google Ads API goes on for
 * developer tokens that used it before (blog of the Google Ads API, 15 May 2026).
 */
export default defineVendor({
  key: 'google_ads',
  name: 'Google Ads',
  description: 'Offline and enhanced conversions into Google Ads through the Data Manager API, or the older Google Ads API.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://developers.google.com/data-manager/api',
  api_version: { version: 'v26', checked: '2026-11-16', field: 'ads_api_version', ends: { v21: '2026-08-05', v22: '2026-10-07' } },
  notes: ['New developer tokens can upload click conversions through the Data Manager API only.'],
  setup_steps: [
    'In a Google Cloud project enable the Data Manager API and create an OAuth client of the type Web application.',
    'Add the redirect URI of this installation (BASE_URL/v1/oauth/callback) to the client.',
    'Enter the client ID and secret, press Connect and sign in as a user of the Google Ads account.',
    'In Google Ads create a conversion action with the source Website or Import and copy its ID (ctId in the URL).',
  ],
  see_it: 'Open Goals, Conversions, the conversion action, Diagnostics, after some hours.',
  // developers.google.com/data-manager/api/reference/rest/v1/events/ingest: validateOnly
  test_mode: { field: 'validate_only', value: true, effect: 'Google checks the conversion and records nothing.' },
  default_consent_category: 'advertising',
  config_fields: [
    select(
      'api',
      'API',
      ['data_manager', 'google_ads_api'],
      'google_ads_api only for developer tokens that uploaded conversions before June 2026, with the variant of that name.',
    ),
    text('customer_id', 'Customer ID', '1234567890', 'Of the account that owns the conversion actions, without dashes.', DIGITS),
    text(
      'conversion_action_id',
      'Conversion action ID',
      '987654321',
      'The ctId in the URL of the conversion action. An event with a vendor event name uses that one instead.',
      DIGITS,
    ),
    optionalText('login_customer_id', 'Manager account ID', '1112223333', 'When access goes through a manager account.', DIGITS),
    ...oauthFields({
      help_text: 'Of your Google Cloud project: APIs & Services, Credentials, an OAuth client of the type Web application.',
      client_id: '123456789012-abc.apps.googleusercontent.com',
      client_secret: 'GOCSPX-0123456789abcdef',
      refresh_token: '1//0gExampleRefreshToken',
    }),
    optionalSecret('developer_token', 'Developer token', 'ABcdEFghIJklMNopQRstUV', 'Google Ads API only.', {
      required_when: { field: 'api', equals: 'google_ads_api' },
    }),
    optionalText(
      'ads_api_version',
      'Google Ads API version',
      'v26',
      'Google Ads API only. Google ends a version about a year after its release.',
      { default: 'v26', pattern: '^v\\d{2,3}$', pattern_hint: 'a version such as v26' },
    ),
    eventTable(
      'conversion_actions',
      'Conversion actions',
      text('conversion_action_id', 'Conversion action ID', '987654322', 'The ctId in the URL of the conversion action.', DIGITS),
      'Further events and the conversion action of each. A row enables its event.',
      { required: false },
    ),
    optionalText('merchant_id', 'Merchant Center ID', '123456789', 'For conversions with cart data, Google Ads API only.', DIGITS),
    flag('validate_only', 'Validation only', 'Google checks the conversions and records nothing.'),
  ],
  // One consent covers both APIs.
  connect: connectTo('google', ['https://www.googleapis.com/auth/datamanager', 'https://www.googleapis.com/auth/adwords']),
  requests: [
    {
      name: 'google_ads_adjustments',
      when: {
        all: [
          { field: 'parameters.api', op: 'eq', value: 'google_ads_api' },
          { field: 'payload.adjustment', op: 'exists' },
        ],
      },
      method: 'POST',
      url: 'https://googleads.googleapis.com/{{parameters.ads_api_version}}/customers/{{parameters.customer_id}}:uploadConversionAdjustments',
      headers: { 'developer-token': '{{parameters.developer_token}}', 'login-customer-id': '{{parameters.login_customer_id}}' },
      auth: OAUTH,
      lane: ['conversion_action'],
      items: 'adjustment',
      fill: { conversionAction: 'customers/{{parameters.customer_id}}/conversionActions/{{lane.conversion_action}}' },
      body: {
        kind: 'json_list',
        under: 'conversionAdjustments',
        common: { partialFailure: true, validateOnly: { $ref: 'parameters.validate_only' } },
      },
      batch: { max_items: 2_000, max_bytes: 5_000_000, interval_ms: 5_000 },
      answers: [...PARTIAL, WHOLE, RETRY_TIMEOUT],
    },
    {
      name: 'google_ads_api',
      when: { field: 'parameters.api', op: 'eq', value: 'google_ads_api' },
      method: 'POST',
      url: 'https://googleads.googleapis.com/{{parameters.ads_api_version}}/customers/{{parameters.customer_id}}:uploadClickConversions',
      headers: { 'developer-token': '{{parameters.developer_token}}', 'login-customer-id': '{{parameters.login_customer_id}}' },
      auth: OAUTH,
      lane: ['conversion_action'],
      fill: { conversionAction: 'customers/{{parameters.customer_id}}/conversionActions/{{lane.conversion_action}}' },
      body: {
        kind: 'json_list',
        under: 'conversions',
        common: { partialFailure: true, validateOnly: { $ref: 'parameters.validate_only' } },
      },
      batch: { max_items: 2_000, max_bytes: 5_000_000, interval_ms: 5_000 },
      answers: [...PARTIAL, WHOLE, RETRY_TIMEOUT],
    },
    {
      name: 'data_manager',
      method: 'POST',
      url: 'https://datamanager.googleapis.com/v1/events:ingest',
      auth: OAUTH,
      lane: ['conversion_action'],
      body: {
        kind: 'json_list',
        under: 'events',
        common: {
          destinations: [
            {
              operatingAccount: { accountType: 'GOOGLE_ADS', accountId: '{{parameters.customer_id}}' },
              loginAccount: {
                $if: '{{parameters.login_customer_id}}',
                accountType: 'GOOGLE_ADS',
                accountId: '{{parameters.login_customer_id}}',
              },
              productDestinationId: '{{lane.conversion_action}}',
            },
          ],
          encoding: 'HEX',
          validateOnly: { $ref: 'parameters.validate_only' },
        },
      },
      batch: { max_items: 2_000, max_bytes: 5_000_000, interval_ms: 5_000 },
      answers: INGEST_ANSWERS,
      poll: REQUEST_STATUS,
    },
  ],
  event_name: { target: 'conversion_action', default: '{{parameters.conversion_action_id}}' },
  event_table: { field: 'conversion_actions', event: 'event', vendor_event_name: 'conversion_action_id' },
  together: [WHOLE_ADDRESS],
  compact: [
    { path: 'userData.userIdentifiers' },
    { path: 'userIdentifiers' },
    { path: 'cartData.items', needs: ['merchantProductId', 'productId'] },
  ],
  require_one_of: [
    [
      'adIdentifiers.gclid',
      'adIdentifiers.gbraid',
      'adIdentifiers.wbraid',
      'userData.userIdentifiers',
      'gclid',
      'gbraid',
      'wbraid',
      'userIdentifiers',
      'adjustment',
    ],
  ],
  default_action: 'drop',
  rate: { rps: 5, burst: 10, daily: 100_000 },
  concurrency: 2,
  variants: [
    {
      key: 'default',
      name: 'Default',
      description: 'Orders and bookings as conversions, through the Data Manager API.',
      default_config: ALL,
    },
    {
      key: 'retail',
      name: 'Retail',
      description: 'Orders with cart data; the other e-commerce events are prepared and wait for a conversion action.',
      default_config: RETAIL,
    },
    { key: 'travel', name: 'Travel', description: 'Bookings; the other events wait for a conversion action.', default_config: TRAVEL },
    { key: 'media', name: 'Media', description: 'Subscriptions and the like, which wait for a conversion action.', default_config: MEDIA },
    { key: 'saas', name: 'SaaS', description: 'Sign-ups, trials and plans, which wait for a conversion action.', default_config: SAAS },
    {
      key: 'google_ads_api',
      name: 'Google Ads API',
      description: 'Orders as click conversions, for developer tokens that used it before June 2026.',
      default_config: ADS_API,
    },
  ],
});
