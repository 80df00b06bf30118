/** Everflow server postback of an advertiser. developers.everflow.io/sdk, helpdesk.everflow.io and public integrations, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { adLines } from '../shared/ad-lines.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { deviceIds } from '../shared/device.ts';
import { digits, eventTable, optionalSecret, optionalText, text } from '../shared/fields.ts';
import { from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const lines = adLines({ value: 'amount', currency: 'currency', order_id: 'order_id' });

/** The base conversion is sent without an event id. */
const BASE = '0';
const variants = blueprints({
  // Other events come from the table.
  names: { 'Order Completed': BASE, 'Booking Completed': BASE },
  global: [
    from('parameters.network_id', 'nid'),
    from('parameters.advertiser_id', 'aid'),
    from('parameters.verification_token', 'verification_token'),
    from(source.clickId('_ef_transaction_id'), 'transaction_id'),
    from('properties.coupon', 'coupon_code'),
    from('timestamp', 'timestamp', ['to_unix_seconds']),
    from('user_id', 'user_id'),
    from('context.ip', 'user_ip'),
    from('context.user_agent', 'user_agent'),
    ...deviceIds({ idfa: 'idfa', aaid: 'google_aid' }),
  ],
  lines,
});

const ANSWERS: AnswerRule[] = [
  // A conversion without an error, but also without a pixel, was rejected.
  { status: [204], verdict: 'refused' },
  RETRY_TIMEOUT,
];

const SEND: RequestDefinition = { method: 'GET', url: '{{parameters.tracking_url}}/', body: { kind: 'query' }, answers: ANSWERS };

export default defineVendor({
  key: 'everflow',
  name: 'Everflow',
  description: 'Conversions and events of Everflow partners, through the server postback.',
  category: 'advertising',
  group: 'affiliate',
  status: 'beta',
  website: 'https://developers.everflow.io/',
  api_version: { version: 'postback', checked: '2026-11-16' },
  setup_steps: [
    'In Everflow open the offer, Tracking, and copy the domain and the network ID (nid) of the server postback.',
    'If the offer has further events, copy their numeric IDs into the table below.',
    'If conversion verification is on, copy the verification token.',
  ],
  see_it: 'Open Reporting, Conversion: the conversion shows with its transaction id.',
  notes: [
    'Open: currency, user_ip, user_agent, timestamp and the advertising ids were seen in public integrations. Everflow’s help says that amount is read in the currency of the offer.',
    'Everflow answers 204 for a rejected conversion, without a reason. See its conversion report.',
    'Only events with a transaction id or a coupon are sent. The e-mail address is never sent.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('tracking_url', 'Tracking domain', 'https://www.example-trk.com', 'The offer, Tracking: scheme and host of the server postback.', {
      format: 'url',
    }),
    text('network_id', 'Network ID', '1234', 'The nid in the server postback.', digits()),
    optionalText('advertiser_id', 'Advertiser ID', '5', 'The aid in the server postback, for conversions by coupon.', digits()),
    {
      ...eventTable(
        'offer_events',
        'Offer events',
        text('event_id', 'Event ID', '17', 'The offer, Events.', digits()),
        'Further events and their numeric IDs. A row enables its event; 0 is the base conversion.',
      ),
      required: false,
    },
    optionalSecret('verification_token', 'Verification token', 'abcDEF123', 'The offer, Tracking, if conversion verification is on.'),
  ],
  requests: [{ ...SEND, name: 'conversion', when: { field: 'payload.event_id', op: 'eq', value: BASE }, lane: ['event_id'] }, SEND],
  event_name: { target: 'event_id' },
  event_table: { field: 'offer_events', event: 'event', vendor_event_name: 'event_id' },
  together: [['amount', 'currency']],
  require_one_of: [['transaction_id', 'coupon_code']],
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
