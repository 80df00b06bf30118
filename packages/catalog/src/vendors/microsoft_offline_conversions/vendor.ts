/**
 * Microsoft Advertising Campaign Management API v13, ApplyOfflineConversions over REST. Fields, addresses and scopes from Microsoft's own
 * client (BingAds/BingAds-PHP-REST-SDK) and learn.microsoft.com/advertising, read on 2026-11-16.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { digits, eventTable, secret, text } from '../shared/fields.ts';
import { from } from '../shared/mapping.ts';
import { connectTo, oauthFields, refreshTokenOf } from '../shared/oauth.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const variants = blueprints({
  // The goals have the customer's own names. The table of goals enables an event and gives its goal.
  names: {},
  global: [
    from('timestamp', 'conversion.ConversionTime', ['to_iso8601']),
    from(source.clickId('msclkid'), 'conversion.MicrosoftClickId'),
    ...userData('conversion', { email: 'HashedEmailAddress', phone: 'HashedPhoneNumber' }, { phone: 'e164', email: 'unaccented' }),
  ],
  lines: adLines({ value: 'conversion.ConversionValue', currency: 'conversion.ConversionCurrencyCode' }),
});

const ANSWERS: AnswerRule[] = [
  {
    status: ['2xx'],
    when: { field: 'body.PartialErrors[0]', op: 'exists' },
    verdict: 'partial',
    partial: { errors: 'body.PartialErrors', index: 'Index', reason: 'Message', failed: 'refused', others: 'delivered' },
  },
  { status: [401], verdict: 'refresh_token', reason: 'body.Errors[0].Message' },
  { status: [400], verdict: 'refused', reason: 'body.Errors[0].Message', isolate: true },
  { status: [403, 404], verdict: 'refused', reason: 'body.Errors[0].Message' },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'microsoft_offline_conversions',
  name: 'Microsoft Advertising offline conversions',
  description: 'Uploads conversions by click ID or hashed e-mail address to offline conversion goals of Microsoft Advertising.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://learn.microsoft.com/en-us/advertising/campaign-management-service/applyofflineconversions',
  api_version: { version: 'v13', checked: '2026-11-16' },
  setup_steps: [
    'In Microsoft Advertising open Conversions, Conversion goals, and create an offline conversion goal for each event. Wait two hours before the first upload.',
    'Apply for a developer token in the Microsoft Advertising Developer Portal.',
    'In Microsoft Entra register a web application with the callback URL of this installation (BASE_URL/v1/oauth/callback), enter its client ID and secret, and press Connect.',
  ],
  see_it: 'Open Conversions, Conversion goals: the conversions of the goal show within six hours.',
  notes: [
    'Open: how a phone number is written before hashing. It is hashed with its plus (E.164); addresses lose accents, and dots and +tag before the @.',
    'Open: the body of an error that concerns the whole request. It was not seen over REST.',
    'Open: the oldest conversion that Microsoft accepts. 90 days are the longest conversion window of a goal.',
    'Microsoft ignores a second conversion with the same click ID, goal and time, so a repeated delivery does not count twice.',
    'Auto-tagging of click IDs (msclkid) must be on in the account. Use the Microsoft Advertising integration for conversions through a UET tag.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('account_id', 'Account ID', '123456789', 'The number after aid= in the address of Microsoft Advertising.', digits()),
    text('customer_id', 'Customer ID', '987654321', 'The number after cid= in the address of Microsoft Advertising.', digits()),
    secret('developer_token', 'Developer token', '012345679ABCDEFG', 'Microsoft Advertising Developer Portal, Account.'),
    ...oauthFields({
      help_text: 'Microsoft Entra, App registrations, your app.',
      client_id: '11111111-2222-3333-4444-555555555555',
      client_secret: 'abc8Q~exampleclientsecret',
      refresh_token: '0.AXoAexamplerefresh0123456789',
    }),
    eventTable(
      'conversion_goals',
      'Conversion goals',
      text('goal', 'Goal', 'Purchase', 'Name of the offline conversion goal, exactly as in Conversions, Conversion goals.'),
      'Events and the goal of each. A row enables its event.',
    ),
  ],
  connect: connectTo('microsoft', ['https://ads.microsoft.com/msads.manage', 'offline_access']),
  request: {
    method: 'POST',
    url: 'https://campaign.api.bingads.microsoft.com/CampaignManagement/v13/OfflineConversions/Apply',
    headers: {
      DeveloperToken: '{{parameters.developer_token}}',
      CustomerAccountId: '{{parameters.account_id}}',
      CustomerId: '{{parameters.customer_id}}',
    },
    auth: refreshTokenOf('microsoft'),
    items: 'conversion',
    body: { kind: 'json_list', under: 'OfflineConversions' },
    batch: { max_items: 1_000, max_bytes: 2_000_000, interval_ms: 10_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'conversion.ConversionName', max_length: 100 },
  event_table: { field: 'conversion_goals', event: 'event', vendor_event_name: 'goal' },
  together: [['conversion.ConversionValue', 'conversion.ConversionCurrencyCode']],
  require_one_of: [['conversion.MicrosoftClickId', 'conversion.HashedEmailAddress', 'conversion.HashedPhoneNumber']],
  max_event_age_hours: 2_160,
  default_action: 'drop',
  rate: { rps: 2, burst: 4 },
  variants,
});
