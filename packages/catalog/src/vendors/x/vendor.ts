/** X Conversion API, Ads API version 12. Fields from docs.x.com and developer.x.com, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { eventTable, idOf, secret, text } from '../shared/fields.ts';
import { from, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { PHONE_COUNTRY } from '../shared/user-data.ts';

/** X matches an IP address or a user agent only together with another identifier. */
const PAIR = {
  when: {
    all: [
      { field: 'context.ip', op: 'exists' },
      { field: 'context.user_agent', op: 'exists' },
    ],
  },
};

const variants = blueprints({
  // X has no standard names. The table of events enables an event and gives its event id.
  names: {},
  global: [
    from('timestamp', 'conversion_time', ['to_iso8601']),
    from('event_id', 'conversion_id'),
    from(source.clickId('twclid', 'twclid'), 'identifiers[0].twclid'),
    from(source.EMAIL, 'identifiers[1].hashed_email', ['normalize_email', 'sha256']),
    from(source.PHONE, 'identifiers[2].hashed_phone_number', [use('normalize_phone', PHONE_COUNTRY), 'sha256']),
    from('context.ip', 'identifiers[3].ip_address', [], PAIR),
    from('context.user_agent', 'identifiers[3].user_agent', [], PAIR),
  ],
  lines: adLines({
    products: {
      at: 'contents',
      names: { id: 'content_id', name: 'content_name', category: 'content_type', price: 'content_price', quantity: 'num_items' },
      style: { default_quantity: true },
    },
    count: 'number_items',
    value: 'value',
    currency: 'price_currency',
    query: 'search_string',
    name: 'description',
  }),
});

const ANSWERS: AnswerRule[] = [
  { status: [401, 403], verdict: 'refused', reason: 'body.errors[0].message' },
  { status: [400, 404, 422], verdict: 'refused', reason: 'body.errors', isolate: true },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'x',
  name: 'X Conversion API',
  description: 'Website conversions into X events, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'ga',
  website: 'https://docs.x.com/x-ads-api/measurement/web-conversions',
  api_version: { version: '12', checked: '2026-11-16' },
  setup_steps: [
    'Apply for Ads API access with an app of the X developer portal, and keep its API key and secret.',
    'Generate an access token and secret for a user who is ad manager or account admin of the ad account.',
    'In Ads Manager open Tools, Events Manager, and copy the pixel ID and the ID of each event (Install with Conversion API).',
  ],
  see_it: 'Open Events Manager: the event turns to Active, with the time of the last event, within a day.',
  notes: [
    'X knows no standard names: every event needs a row with its event ID.',
    'An event needs the click id twclid, an e-mail address or a telephone number. IP address and user agent are sent in addition.',
    'X deduplicates with the pixel by conversion_id within 48 hours, for the same event.',
    'The limit was 60,000 requests of 500 events in 15 minutes for version 11 and is 100,000 for version 12; the default rate keeps the lower.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'pixel_id',
      'Pixel ID',
      'o8z6j',
      'Ads Manager, Tools, Events Manager, the event source.',
      idOf('the id of the pixel, such as o8z6j'),
    ),
    eventTable(
      'events_table',
      'Events',
      text(
        'event_id',
        'Event ID',
        'tw-o8z6j-o87ne',
        'Ads Manager, Events Manager, the event.',
        idOf('an event id, such as o87ne or tw-o8z6j-o87ne'),
      ),
      'Events and the event ID of each. A row enables its event.',
    ),
    secret('consumer_key', 'API key', 'xvz1evFS4wEEPTGEFPHBog', 'X developer portal, your app, Keys and tokens.'),
    secret(
      'consumer_secret',
      'API key secret',
      'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
      'X developer portal, your app, Keys and tokens.',
    ),
    secret(
      'access_token',
      'Access token',
      '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
      'X developer portal, your app, Keys and tokens.',
    ),
    secret(
      'access_token_secret',
      'Access token secret',
      'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
      'X developer portal, your app, Keys and tokens.',
    ),
  ],
  request: {
    method: 'POST',
    url: 'https://ads-api.x.com/12/measurement/conversions/{{parameters.pixel_id}}',
    auth: {
      kind: 'oauth1',
      consumer_key: '{{parameters.consumer_key}}',
      consumer_secret: '{{parameters.consumer_secret}}',
      token: '{{parameters.access_token}}',
      token_secret: '{{parameters.access_token_secret}}',
    },
    body: { kind: 'json_list', under: 'conversions' },
    batch: { max_items: 500, max_bytes: 2_000_000, interval_ms: 1_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'event_id' },
  event_table: { field: 'events_table', event: 'event', vendor_event_name: 'event_id' },
  compact: [{ path: 'identifiers' }, { path: 'contents', needs: ['content_id'] }],
  together: [['value', 'price_currency']],
  require_one_of: [['identifiers[*].twclid', 'identifiers[*].hashed_email', 'identifiers[*].hashed_phone_number']],
  default_action: 'drop',
  rate: { rps: 60, burst: 60 },
  variants,
});
