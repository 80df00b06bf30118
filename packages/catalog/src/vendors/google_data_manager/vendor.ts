/** Google Data Manager API v1, for Google Ads and Floodlight destinations. developers.google.com/data-manager, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { blueprints } from '../shared/blueprints.ts';
import { CART_LINES, FLOODLIGHT_LINES, INGEST_LINES, INGEST_RULES, ingestRequest } from '../shared/data-manager.ts';
import { digits, eventTable, flag, optionalText, select, text } from '../shared/fields.ts';
import { connectTo, oauthFields } from '../shared/oauth.ts';

const isFloodlight = { field: 'parameters.account_type', op: 'eq', value: 'FLOODLIGHT_CONFIG' };
const variants = blueprints({
  // Google counts conversion actions and Floodlight activities. The table enables an event and gives its destination.
  names: {},
  global: [
    ...INGEST_LINES,
    ...FLOODLIGHT_LINES.map((line) => ({ ...line, when: 'when' in line ? { all: [isFloodlight, line.when ?? {}] } : isFloodlight })),
  ],
  lines: { purchase: CART_LINES, order: CART_LINES, cart: CART_LINES },
});

export default defineVendor({
  key: 'google_data_manager',
  name: 'Google Data Manager',
  description: 'Conversions into Google Ads conversion actions or Floodlight activities through the Data Manager API.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://developers.google.com/data-manager/api',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'In a Google Cloud project enable the Data Manager API and create an OAuth client of the type Web application.',
    'Add the redirect URI of this installation (BASE_URL/v1/oauth/callback) to the client, enter its ID and secret, and press Connect.',
    'Enter the account that owns the conversion actions, and the conversion action or Floodlight activity of each event.',
  ],
  see_it: 'Open the diagnostics of the conversion action in the product that receives the events, after some hours.',
  // developers.google.com/data-manager/api/reference/rest/v1/events/ingest: validateOnly
  test_mode: { field: 'validate_only', value: true, effect: 'Google checks the event and stores nothing.' },
  notes: [
    'Google accepts a request first and processes it later. The result is fetched after half an hour; it counts failed events and does not name them.',
    'Google asks not to send IP addresses of people in the EEA, the United Kingdom and Switzerland, so they are off by default.',
    'Google Analytics properties and offline store sales need an allow list and are not offered.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    select(
      'account_type',
      'Account type',
      ['GOOGLE_ADS', 'FLOODLIGHT_CONFIG'],
      'GOOGLE_ADS, or FLOODLIGHT_CONFIG for Campaign Manager 360 and Display & Video 360.',
    ),
    text(
      'account_id',
      'Account ID',
      '1234567890',
      'The Google Ads account that owns the conversion actions, without dashes; or the Floodlight configuration ID.',
      digits('digits only, without dashes'),
    ),
    optionalText(
      'login_account_id',
      'Login account ID',
      '1112223333',
      'The manager account through which you have access; for Floodlight the configuration ID again.',
      digits('digits only, without dashes'),
    ),
    eventTable(
      'destinations',
      'Destinations',
      text(
        'destination_id',
        'Destination ID',
        '987654321',
        'The conversion action ID (ctId in its URL) or the Floodlight activity ID.',
        digits(),
      ),
      'Events and the destination of each. A row enables its event.',
    ),
    ...oauthFields({
      help_text: 'Google Cloud console, APIs & Services, Credentials, an OAuth client of the type Web application.',
      client_id: '123456789012-abc.apps.googleusercontent.com',
      client_secret: 'GOCSPX-0123456789abcdef',
      refresh_token: '1//0gExampleRefreshToken',
    }),
    flag('send_ip', 'Send IP addresses', 'Floodlight only. Leave off for visitors of the EEA, the United Kingdom and Switzerland.'),
    flag('validate_only', 'Validation only', 'Google checks the events and records nothing.'),
  ],
  connect: connectTo('google', ['https://www.googleapis.com/auth/datamanager']),
  request: ingestRequest({
    type: '{{parameters.account_type}}',
    id: '{{parameters.account_id}}',
    login_type: '{{parameters.account_type}}',
    login_id: '{{parameters.login_account_id}}',
  }),
  ...INGEST_RULES,
  default_action: 'drop',
  variants,
});
