/** Display & Video 360 has no event API of its own: conversions are Floodlight activities, sent through the Data Manager API. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { blueprints } from '../shared/blueprints.ts';
import { CART_LINES, FLOODLIGHT_LINES, INGEST_LINES, INGEST_RULES, ingestRequest } from '../shared/data-manager.ts';
import { digits, eventTable, flag, text } from '../shared/fields.ts';
import { connectTo, oauthFields } from '../shared/oauth.ts';

const CONFIGURATION = '{{parameters.floodlight_configuration_id}}';
const variants = blueprints({
  names: {},
  global: [...INGEST_LINES, ...FLOODLIGHT_LINES],
  lines: { purchase: CART_LINES, order: CART_LINES, cart: CART_LINES },
});

export default defineVendor({
  key: 'display_video_360',
  name: 'Display & Video 360',
  description: 'Conversions into the Floodlight activities of a Display & Video 360 advertiser, through the Data Manager API.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://developers.google.com/data-manager/api/devguides/events/cm360/online/send-events',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'In Display & Video 360 open the advertiser, Resources, Floodlight, and copy the Floodlight configuration ID.',
    'Copy the ID of the Floodlight activity for each event into the table below.',
    'In a Google Cloud project enable the Data Manager API and create an OAuth client of the type Web application with the redirect URI of this installation (BASE_URL/v1/oauth/callback).',
    'Enter the client ID and secret, press Connect and sign in as a user with access to the Floodlight configuration.',
  ],
  see_it: 'Open Resources, Floodlight, the activity: the count of conversions shows after the next processing, within a day.',
  test_mode: { field: 'validate_only', value: true, effect: 'Google checks the event and stores nothing.' },
  notes: [
    'Display & Video 360 counts Floodlight activities. The vendor google_data_manager sends the same with other account types.',
    'Google asks not to send IP addresses of people in the EEA, the United Kingdom and Switzerland, so they are off by default.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('floodlight_configuration_id', 'Floodlight configuration ID', '1234567', 'Advertiser, Resources, Floodlight.', digits()),
    eventTable(
      'destinations',
      'Floodlight activities',
      text('destination_id', 'Activity ID', '7654321', 'Advertiser, Resources, Floodlight, the activity.', digits()),
      'Events and the Floodlight activity of each. A row enables its event.',
    ),
    ...oauthFields({
      help_text: 'Google Cloud console, APIs & Services, Credentials, an OAuth client of the type Web application.',
      client_id: '123456789012-abc.apps.googleusercontent.com',
      client_secret: 'GOCSPX-0123456789abcdef',
      refresh_token: '1//0gExampleRefreshToken',
    }),
    flag('send_ip', 'Send IP addresses', 'Leave off for visitors of the EEA, the United Kingdom and Switzerland.'),
    flag('validate_only', 'Validation only', 'Google checks the events and records nothing.'),
  ],
  connect: connectTo('google', ['https://www.googleapis.com/auth/datamanager']),
  request: ingestRequest({ type: 'FLOODLIGHT_CONFIG', id: CONFIGURATION, login_type: 'FLOODLIGHT_CONFIG', login_id: CONFIGURATION }),
  ...INGEST_RULES,
  default_action: 'drop',
  variants,
});
