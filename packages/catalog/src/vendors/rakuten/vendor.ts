/**
 * Rakuten Advertising transaction pixel, called from the server. Public integrations only (the documentation needs a login): RudderStack
 * (answers) and MetaRouter (amounts, refunds), read on 2026-11-16.
 */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { HAS_PRICES, NEGATIVE } from '../shared/commerce.ts';
import { digits, text } from '../shared/fields.ts';
import { from, set, type Transform, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';

const TIME = use('format_time', 'yyyyMMdd_HHmm');
const JOINED = use('join', '|');
/** Line totals in the smallest unit of the currency, and a minus for refunds. A product without a price is 0, if another has one. */
const amounts = (sign: Transform[]) => {
  const totals = [use('multiply_fields', 'price', 'quantity'), ...sign, use('minor_units', { source: 'properties.currency' })];
  return [
    from('properties.products', 'amtlist', [...totals, JOINED], { required: true }),
    from('properties.products', 'amtlist', [...totals, use('fill_missing', 0), JOINED], { when: HAS_PRICES }),
  ];
};
/** The lists must have one part for each product. */
const LISTED = ['to_string', use('replace', '\\|', '_'), use('fill_missing', '-'), JOINED];
const order = (sign: Transform[] = []) => [
  from(source.ORDER_ID, 'ord', ['to_string'], { required: true }),
  from('properties.currency', 'cur', ['currency_code'], { required: true }),
  from(product('sku', 'product_id', 'name'), 'skulist', LISTED, { required: true }),
  from('properties.products', 'qlist', [use('multiply_fields', 'quantity'), use('fill_missing', 1), JOINED]),
  ...amounts(sign),
  from(product('name', 'sku', 'product_id'), 'namelist', LISTED),
  from('properties.coupon', 'coupon'),
];

/** An answer of 200 may refuse the order: an error, or a count of bad transactions. */
const ANSWERS: AnswerRule[] = [
  { status: ['2xx'], when: { field: 'body', op: 'matches', value: '<error>|<bad>[1-9]' }, verdict: 'refused', reason: 'body' },
  RETRY_TIMEOUT,
];

const variants = blueprints({
  names: { 'Order Completed': 'order', 'Order Refunded': 'refund', 'Booking Completed': 'order' },
  global: [
    from('parameters.mid', 'mid'),
    set('xml', '1'),
    from(source.clickId('ranSiteID'), 'tr', [], { required: true }),
    from(source.clickTime('ranSiteID'), 'land', [TIME]),
    from('timestamp', 'date', [TIME]),
    from('user_id', 'custid'),
  ],
  lines: { purchase: order(), refund: order(NEGATIVE), booking: order() },
});

export default defineVendor({
  key: 'rakuten',
  name: 'Rakuten Advertising',
  description: 'Orders and refunds of the Rakuten (LinkShare) affiliate network.',
  category: 'advertising',
  group: 'affiliate',
  status: 'beta',
  website: 'https://pubhelp.rakutenadvertising.com/hc/en-us',
  api_version: { version: 'ep', checked: '2026-11-16' },
  setup_steps: [
    'Ask Rakuten Advertising for your merchant ID (MID) and for server-side reporting through the ep endpoint.',
    'Let the collector remember the click id ranSiteID.',
  ],
  see_it: 'Ask Rakuten for the transaction report, or open Reports, Signature orders, after the nightly processing.',
  notes: [
    'Open: the documentation needs a login. Parameters, answers and the sign of refunds were seen in public integrations.',
    'Amounts are line totals in the smallest unit of the currency: cents for EUR, whole yen for JPY.',
    'A 200 with an error or with bad transactions is a rejected order. “Access denied” means that Rakuten has not enabled the pixel for the merchant ID.',
    'Only orders with ranSiteID and products are sent.',
  ],
  default_consent_category: 'advertising',
  config_fields: [text('mid', 'Merchant ID (MID)', '12345', 'From Rakuten Advertising.', digits())],
  request: { method: 'GET', url: 'https://track.linksynergy.com/ep', lane: ['kind'], body: { kind: 'query' }, answers: ANSWERS },
  event_name: { target: 'kind' },
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
