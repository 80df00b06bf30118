/**
 * Spotify Ads Conversions API (direct). Copies of developer.spotify.com's guide in public repositories, and the implementation guide of
 * the public plugin spotify-ads-api, read on 2026-11-16.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { actionSource, advertisingId } from '../shared/device.ts';
import { idOf, secret, text } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const variants = blueprints({
  names: adEvents({
    view: 'PRODUCT',
    cart: 'ADD_TO_CART',
    checkout: 'CHECK_OUT',
    purchase: 'PURCHASE',
    registration: 'SIGN_UP',
    lead: 'LEAD',
  }),
  global: [
    from('event_id', 'event_id'),
    from('timestamp', 'event_time', ['to_iso8601']),
    ...actionSource('action_source', { other: 'OFFLINE', web: 'WEB', app: 'APP' }),
    from(source.PAGE_URL, 'event_source_url'),
    set('opt_out_targeting', true, { when: source.AD_DENIED }),
    ...userData('user_data', { phone: 'hashed_phone_number', ip: 'ip_address' }, { phone: 'e164' }),
    from(source.EMAIL, 'user_data.hashed_emails[0]', ['normalize_email', 'sha256']),
    advertisingId('user_data.device_id'),
  ],
  lines: adLines({
    value: 'event_details.amount',
    currency: 'event_details.currency',
    value_required: true,
    name: 'event_details.content_name',
  }),
  others: { '@page': event('VIEW', [from(source.OWN_PAGE_URL, 'event_source_url')]) },
});

export default defineVendor({
  key: 'spotify_ads',
  name: 'Spotify Ads',
  description: 'Web, app and offline conversions into Spotify Ads, for measurement and optimisation.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://developer.spotify.com/documentation/ads-api/guides/conversions-api',
  api_version: { version: 'capi-direct', checked: '2026-11-16' },
  setup_steps: [
    'In Spotify Ads Manager open Events Manager, Data sources, and create a Conversions API connection; copy its ID.',
    'Generate a Conversions API token for the connection. It is not the OAuth token of the Ads API.',
  ],
  see_it: 'Open Events Manager, the data source: the event shows with its time of receipt, after twenty minutes or more.',
  notes: [
    'Open: the guide was read in copies, not on Spotify’s own page; batch and rate limits are not published, so batches are kept to 100.',
    'Open: whether device_id is hashed. Spotify’s guide contradicts itself; the blueprint sends it as it is.',
    'Open: the form of a telephone number before hashing; E.164 is used.',
    'content_category must be a Google product taxonomy id and is not sent: free text is rejected.',
    'Spotify’s click id spclid belongs to the pixel; the API has no field for it.',
    'CUSTOM_EVENT_1 to CUSTOM_EVENT_5 can be used as vendor_event_name for further events.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'connection_id',
      'Connection ID',
      '0a1b2c3d4e5f60718293a4b5c6d7e8f9',
      'Ads Manager, Events Manager, Data sources, the connection.',
      idOf('the id of a connection'),
    ),
    secret('token', 'Conversions API token', 'sp_exampletoken0123456789', 'Ads Manager, Events Manager, the connection, Tokens.'),
  ],
  request: {
    method: 'POST',
    url: 'https://capi.spotify.com/capi-direct/events/',
    auth: { kind: 'bearer', token: '{{parameters.token}}' },
    body: { kind: 'json_list', under: 'conversion_events.events', common: { capi_connection_id: '{{parameters.connection_id}}' } },
    batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: oneBadFailsAll(),
  },
  event_name: { target: 'event_name' },
  together: [['event_details.amount', 'event_details.currency']],
  require_one_of: [['user_data.hashed_emails', 'user_data.hashed_phone_number', 'user_data.ip_address', 'user_data.device_id']],
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
