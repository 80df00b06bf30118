/** Yahoo DSP Conversion API v1. help.yahooinc.com/dsp-api and a note that quotes it, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { actionSource, deviceIds } from '../shared/device.ts';
import { digits, eventTable, secret, select, text } from '../shared/fields.ts';
import { from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

/** Prices are US dollars, unless agreed otherwise. */
const IS_USD = { field: 'properties.currency', op: 'matches', value: '^[Uu][Ss][Dd]$' };
const ORDER = [
  ...orderTotal('eventData.price', { when: IS_USD }),
  from(source.product('category', 'product_category'), 'eventData.products[*].category', ['to_string']),
];
const AUDIENCE = 'https://id.b2b.yahooincapis.com/zts/v1/oauth2/token';

const variants = blueprints({
  // The name must be that of a DSP rule. The table enables an event and gives it.
  names: {},
  global: [
    from('event_id', 'eventId'),
    from('timestamp', 'eventTs', ['to_unix_millis']),
    ...actionSource('actionSource', { other: 'physical_store', web: 'web', app: 'app' }),
    from(source.PAGE_URL, 'actionSourceUrl'),
    from(source.COUNTRY, 'country', ['country_code', 'uppercase']),
    from(source.STATE, 'region'),
    ...userData('userData', { email: 'email', phone: 'phone', ip: 'ip_address', user_agent: 'userAgent' }, { phone: 'e164', lists: true }),
    ...deviceIds({ idfa: 'userData.idfa[0]', aaid: 'userData.gpsaid[0]' }),
    from(source.clickId('vmcid'), 'clickData.vmcid'),
    set('privacy.privacy_type', 'OPTOUT', { when: source.AD_DENIED }),
  ],
  lines: { purchase: ORDER, booking: ORDER, order: ORDER, cart: ORDER, subscription: ORDER },
});

const ANSWERS: AnswerRule[] = [
  { status: [400, 422], verdict: 'refused', reason: 'body.message', isolate: true },
  // PARTIAL names no event, and nothing says that a second attempt would be deduplicated.
  { status: ['2xx'], verdict: 'delivered', reason: 'body.message' },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'yahoo_dsp',
  name: 'Yahoo DSP',
  description: 'Conversions into a Yahoo DSP pixel through the Conversion API.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://help.yahooinc.com/dsp-api/docs/standard-yahoo-conversion-api',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'In Yahoo DSP open the advertiser, Tracking, create a new pixel and ask Yahoo to allow it for the Conversion API. Do not use the ID of a Dot pixel that is live: events would count twice.',
    'Ask Yahoo for API credentials of the DSP realm (client ID and secret).',
    'Create a conversion rule for each event and copy its event name into the table below.',
    'Add the parameter vmcid with Yahoo’s click macro CC to the landing URLs of your ads, so that events carry the click id.',
  ],
  see_it: 'Open the pixel, Rules: the number of conversions shows within a day.',
  notes: [
    'Open: the body, the token endpoint and its audience were seen in a note that quotes the documentation.',
    'Open: PARTIAL answers name no event. They count as delivered, because deduplication by eventId is not documented.',
    'Yahoo requires user data: an event with nothing but the click id is dropped.',
    'Prices are sent for US dollars only.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('pixel_id', 'Pixel ID', '10012345', 'Yahoo DSP, Pixels: the new pixel of the Conversion API.', digits()),
    eventTable(
      'rules',
      'Conversion rules',
      text('event_name', 'Event name', 'purchase', 'Yahoo DSP, the pixel, Conversion rules.', {
        pattern: '^[^\\r\\n]{1,100}$',
        pattern_hint: 'at most 100 characters',
      }),
      'Events and the event name of their rule. A row enables its event.',
    ),
    text('client_id', 'Client ID', 'idb2b.dsp.client.example', 'From Yahoo, with the API credentials.'),
    secret('client_secret', 'Client secret', 'exampleSecret0123456789', 'From Yahoo, with the API credentials.'),
    select(
      'delivery',
      'Delivery',
      ['batch', 'streaming'],
      'batch: Yahoo processes events once a day. streaming: several times a day, if agreed.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://{{parameters.delivery}}.datax.yahoo.com/v1/events/{{parameters.pixel_id}}',
    auth: {
      kind: 'oauth2_jwt_bearer',
      token_url: AUDIENCE,
      role: 'client',
      scope: 'dsp-api-access',
      extra: { realm: 'dsp' },
      jwt: {
        algorithm: 'HS256',
        private_key: '{{parameters.client_secret}}',
        claims: { iss: '{{parameters.client_id}}', sub: '{{parameters.client_id}}', aud: `${AUDIENCE}?realm=dsp` },
        lifetime_s: 600,
      },
    },
    body: { kind: 'json_list' },
    batch: { max_items: 1_000, max_bytes: 5_000_000, interval_ms: 5_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'eventName' },
  event_table: { field: 'rules', event: 'event', vendor_event_name: 'event_name' },
  compact: [{ path: 'eventData.products', needs: ['category'] }],
  require_one_of: [['userData.email', 'userData.phone', 'userData.idfa', 'userData.gpsaid', 'userData.ip_address']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
