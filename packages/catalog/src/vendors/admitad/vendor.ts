/** Admitad postback. support.admitad.com, Admitad's plugin for Magento and a public integration, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { digits, idOf, secret, text } from '../shared/fields.ts';
import { from, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const PAID = [
  ...orderTotal('price', { required: true }, ['properties.subtotal', ...source.REVENUE]),
  from('properties.currency', 'currency_code', ['currency_code'], { required: true }),
  from('properties.coupon', 'promocode'),
];

const ORDER = [from(source.ORDER_ID, 'order_id', ['to_string'], { required: true }), ...PAID];
const SUBSCRIPTION = [from([...source.ORDER_ID, 'properties.subscription_id', 'event_id'], 'order_id', ['to_string']), ...PAID];

const variants = blueprints({
  names: {
    'Order Completed': 'sale',
    'Booking Completed': 'sale',
    'Subscription Started': 'sale',
    'Lead Generated': 'lead',
    'Signed Up': 'lead',
  },
  global: [
    set('postback', '1'),
    from('parameters.campaign_code', 'campaign_code'),
    from('parameters.postback_key', 'postback_key'),
    from('parameters.action_code', 'action_code'),
    from('parameters.tariff_code', 'tariff_code'),
    from(source.clickId('admitad_uid'), 'uid', [], { required: true }),
    // An order is one position.
    set('position_id', '1'),
    set('position_count', '1'),
    set('quantity', '1'),
    from('user_id', 'client_id'),
  ],
  lines: {
    purchase: ORDER,
    booking: ORDER,
    subscription: SUBSCRIPTION,
    lead: [from(['properties.lead_id', 'event_id'], 'order_id', ['to_string'])],
    registration: [from('event_id', 'order_id')],
  },
});

export default defineVendor({
  key: 'admitad',
  name: 'Admitad',
  description: 'Sales and leads of the Admitad affiliate network, through its postback.',
  category: 'advertising',
  group: 'affiliate',
  status: 'beta',
  website: 'https://support.admitad.com/hc/en-us/',
  api_version: { version: 'postback', checked: '2026-11-16' },
  setup_steps: [
    'In Admitad open the program’s technical settings and copy the campaign code, the postback key, the action code and the tariff code.',
    'Let the collector remember the click id admitad_uid: only events with it are sent.',
  ],
  see_it: 'Open the program’s Reports, Actions: a test order shows with its order id after some minutes.',
  notes: [
    'Open: quantity, promocode and client_id were seen in public integrations, the other parameters in Admitad’s plugin for Magento. Newer programs may have a domain of their own (set endpoint).',
    'An order is sent as one position with its subtotal. Tariffs by product category are not used.',
    'Admitad reports no errors: send a test order and check it in the program.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('campaign_code', 'Campaign code', 'abc123def4', 'Technical settings of the program.', idOf('the campaign code')),
    secret('postback_key', 'Postback key', '0123456789abcdefExample', 'Technical settings of the program.'),
    text('action_code', 'Action code', '1', 'Technical settings, Actions.', digits()),
    text('tariff_code', 'Tariff code', '1', 'Technical settings, Actions, Tariffs.', digits()),
  ],
  request: { method: 'GET', url: 'https://ad.admitad.com/r', body: { kind: 'query' }, answers: [RETRY_TIMEOUT] },
  event_name: { target: 'payment_type' },
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
