/**
 * The Trade Desk real-time conversion events. Fields from The Trade Desk's Adobe extension and public integrations, which tag needs which
 * id from the references of Tealium and Commanders Act, read on 2026-11-16.
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { flag, idOf, optionalText, select, text } from '../shared/fields.ts';
import { event, from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const has = (...fields: string[]) => ({ any: fields.map((field) => ({ field, op: 'exists' })) });
/** One advertising id: that of the device, otherwise UID2, EUID, RampID or the id that came with the click. */
const IDS: [type: string, sources: string[], also?: JsonObject][] = [
  ['TDID', source.clickId('ttd_id', 'tdid')],
  ['IDL', ['context.vendor_ids.ramp_id']],
  ['EUID', ['context.vendor_ids.euid', 'traits.euid']],
  ['UID2', ['context.vendor_ids.uid2', 'traits.uid2']],
  ['AAID', source.ADVERTISING_ID, { all: [source.IS_ANDROID, source.HAS_ADVERTISING_ID] }],
  ['IDFA', source.ADVERTISING_ID, { all: [source.IS_APPLE, source.HAS_ADVERTISING_ID] }],
];

const variants = blueprints({
  names: adEvents({
    search: 'searchitem',
    view: 'viewitem',
    cart: 'addtocart',
    view_cart: 'viewcart',
    wishlist: 'wishlistitem',
    checkout: 'startcheckout',
    purchase: 'purchase',
    registration: 'signup',
    login: 'login',
    lead: 'lead',
    subscribe: 'subscribe',
    trial: 'starttrial',
  }),
  global: [
    from('parameters.advertiser_id', 'adv'),
    from('parameters.tracker_id', 'tracker_id'),
    from('parameters.upixel_id', 'upixel_id'),
    from('parameters.merchant_id', 'merchant_id'),
    from(source.PAGE_URL, 'referrer_url'),
    from('context.ip', 'client_ip'),
    ...IDS.flatMap(([type, sources, also]) => {
      const when: JsonObject = { all: [has(...sources), ...(also ? [also] : [])] };
      return [from(sources, 'adid', [], { when }), set('adid_type', type, { when })];
    }),
    set('data_processing_option.policies[0]', 'LDU', { when: { field: 'parameters.limited_data_use', op: 'eq', value: true } }),
  ],
  lines: adLines({
    products: {
      at: 'items',
      names: { id: 'item_code', name: 'name', category: 'cat', price: 'price', quantity: 'qty' },
      style: { default_quantity: true, price: ['to_string'], quantity: ['to_string'] },
    },
    value: 'value',
    value_steps: ['to_string'],
    currency: 'currency',
    order_id: 'order_id',
  }),
  others: { '@page': event('sitevisit', [from(source.OWN_PAGE_URL, 'referrer_url')]) },
});

const ANSWERS: AnswerRule[] = [
  // The pixel is not defined for the advertiser.
  { status: [402, 403], verdict: 'refused', reason: 'body.Message' },
  { status: [400], verdict: 'refused', reason: 'body.EventResponses[0].EventErrors[0].ErrorMessage', isolate: true },
  RETRY_TIMEOUT,
];

export default defineVendor({
  key: 'the_trade_desk',
  name: 'The Trade Desk',
  description: 'Real-time conversion events into an event tracker or a universal pixel of The Trade Desk.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://partner.thetradedesk.com/v3/portal/data/doc/DataConversionEventsApi',
  api_version: { version: 'v3', checked: '2026-11-16' },
  setup_steps: [
    'In The Trade Desk open the advertiser’s preferences and copy the advertiser ID.',
    'Under Advertiser data and identity, Tracking tags, create an event tracker (or a universal pixel) and copy its ID.',
    'For retail events ask your representative for the merchant ID.',
  ],
  see_it: 'Open Advertiser data and identity, the tracking tag: the number of events shows within a day.',
  notes: [
    'Open: the documentation needs a login. Fields were seen in the extension that The Trade Desk maintains for Adobe and in public integrations.',
    'Open: the shape of data_processing_option; a public integration sends it only with the region of a US state. Error answers were seen in its tests.',
    'Open: imp and privacy_settings. They are not sent: no source has the id of an impression, and the integrations differ about the consent string.',
    'An event needs an advertising id (TDID, IDFA, AAID, UID2, EUID, RampID) or an IP address.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('advertiser_id', 'Advertiser ID', 'abc1234', 'Advertiser preferences.', idOf('the id of an advertiser')),
    select(
      'tag_type',
      'Tracking tag',
      ['event_tracker', 'universal_pixel'],
      'event_tracker: conversions by event. universal_pixel: conversions by the address of the page. The ID of the other is optional.',
    ),
    optionalText('tracker_id', 'Event tracker ID', 'tracker1', 'Advertiser data and identity, Tracking tags, the event tracker.', {
      ...idOf('the id of an event tracker'),
      required_when: { field: 'tag_type', equals: 'event_tracker' },
    }),
    optionalText('upixel_id', 'Universal pixel ID', 'pixel12', 'Tracking tags, universal pixel. For URL mapping.', {
      ...idOf('the id of a universal pixel'),
      required_when: { field: 'tag_type', equals: 'universal_pixel' },
    }),
    optionalText('merchant_id', 'Merchant ID', 'merchant1', 'From your representative, for retail events.', idOf('the id of a merchant')),
    flag('limited_data_use', 'Limited data use', 'Sends the data processing policy LDU with every event.'),
  ],
  request: {
    method: 'POST',
    url: 'https://insight.adsrvr.org/track/realtimeconversion',
    body: { kind: 'json_list', under: 'data' },
    batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: ANSWERS,
  },
  event_name: { target: 'event_name' },
  compact: [{ path: 'items', needs: ['item_code'] }],
  together: [['adid', 'adid_type']],
  require_one_of: [['adid', 'client_ip']],
  default_action: 'drop',
  rate: { rps: 50, burst: 100 },
  variants,
});
