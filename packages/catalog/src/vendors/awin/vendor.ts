/** Awin Conversion API. help.awin.com/apidocs/conversion-api (earlier developer.awin.com), read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule } from '@firsthand/core/vendor/definition.ts';
import { errorInside, oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal, productList } from '../shared/commerce.ts';
import { digits, flag, secret, text } from '../shared/fields.ts';
import { from, set, type Transform, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

/** After discounts, before tax and delivery. */
const NET = ['properties.subtotal', ...source.REVENUE];
const REFERENCE: Transform[] = ['to_string', use('truncate', 50)];
const PAID = [
  ...orderTotal('amount', { required: true }, NET),
  ...orderTotal('commissionGroups[0].amount', {}, NET),
  from('properties.currency', 'currency', ['currency_code'], { required: true }),
  from('properties.coupon', 'voucher', ['to_string']),
  ...productList(
    'basket',
    { id: 'id', name: 'name', category: 'category', price: 'price', quantity: 'quantity' },
    { default_quantity: true },
  ),
];
const ORDER = [from(source.ORDER_ID, 'orderReference', REFERENCE, { required: true }), ...PAID];
const SUBSCRIPTION = [from([...source.ORDER_ID, 'properties.subscription_id', 'event_id'], 'orderReference', REFERENCE), ...PAID];
/** For a lead the amount is the number of leads. */
const LEAD = [
  from(['properties.lead_id', 'event_id'], 'orderReference', REFERENCE),
  set('amount', 1),
  set('commissionGroups[0].amount', 1),
];

const variants = blueprints({
  names: {
    'Order Completed': 'sale',
    'Booking Completed': 'sale',
    'Subscription Started': 'sale',
    'Lead Generated': 'lead',
    'Demo Requested': 'lead',
  },
  global: [
    set('channel', 'aw'),
    from('timestamp', 'transactionTime', ['to_unix_seconds']),
    from('parameters.commission_group', 'commissionGroups[0].code'),
    set('isTest', true, { when: { field: 'parameters.test_mode', op: 'eq', value: true } }),
    from(source.clickId('awc', 'awc'), 'awc'),
    from('properties.is_new_customer', 'customerAcquisition', ['to_boolean'], { value_map: { true: 'NEW', false: 'RETURNING' } }),
  ],
  lines: { purchase: ORDER, booking: ORDER, subscription: SUBSCRIPTION, lead: LEAD },
});

/** Answers of 2xx, mostly 206, list the orders that Awin rejected; the others are recorded. Seen in a public integration, in two shapes. */
const failedBy = (key: string, reason: string): AnswerRule => ({
  status: ['2xx'],
  verdict: 'partial',
  partial: { errors: 'body.failedOrders', key, reason, failed: 'refused', others: 'delivered' },
});
const ANSWERS: AnswerRule[] = [
  failedBy('order.orderReference', 'errors[0].message'),
  failedBy('orderReference', 'message'),
  // An order that it names in another way: sent again one by one, which is safe, because Awin deduplicates by order reference.
  errorInside({ field: 'body.failedOrders[0]', op: 'exists' }, 'body.failedOrders[0]'),
  ...oneBadFailsAll(),
];

export default defineVendor({
  key: 'awin',
  name: 'Awin',
  description: 'Sales and leads of the Awin affiliate network, through the Conversion API.',
  category: 'advertising',
  group: 'affiliate',
  status: 'beta',
  website: 'https://help.awin.com/apidocs/conversion-api',
  api_version: { version: 's2s', checked: '2026-11-16' },
  setup_steps: [
    'In Awin open your advertiser account and copy its ID.',
    'Ask Awin for a Conversion API key (x-api-key), or create it under API credentials.',
    'Let the collector remember the click id awc: only orders with it, or with a voucher, are sent.',
  ],
  see_it: 'Open Advertiser, Reports, Transactions, or Tracking diagnosis for an order in test mode.',
  test_mode: { field: 'test_mode', value: true, effect: 'Awin records the order as a test, without commission.' },
  notes: [
    'Open: the lists of failed orders in answers, customerAcquisition, and the fields of a basket line, which were seen in public integrations.',
    'Open: transactionTime is in seconds on the page of Awin’s API for publishers; the page of this one was read without its unit.',
    'The amount is the subtotal after discounts, before tax and delivery: properties.subtotal, then revenue, value, total.',
    'Awin deduplicates by order reference and allows 20 calls a minute, so orders are collected for 10 seconds.',
    'Refunds are declined in Awin’s own interface or through its validation API; they are not sent.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('advertiser_id', 'Advertiser ID', '12345', 'Awin, the account menu.', digits('the digits of an advertiser id')),
    secret('api_key', 'Conversion API key', '0a1b2c3d-example-key', 'Awin, API credentials, Conversion API.'),
    text('commission_group', 'Commission group', 'DEFAULT', 'Awin, Commission, Commission groups: the code for whole orders.', {
      default: 'DEFAULT',
      required: false,
      pattern: '^[A-Za-z0-9_-]{1,50}$',
      pattern_hint: 'the code of a commission group',
    }),
    flag('test_mode', 'Test mode', 'Marks orders with isTest.'),
  ],
  request: {
    method: 'POST',
    url: 'https://api.awin.com/s2s/advertiser/{{parameters.advertiser_id}}/orders',
    auth: { kind: 'header', name: 'x-api-key', value: '{{parameters.api_key}}' },
    lane: ['kind'],
    body: { kind: 'json_list', under: 'orders' },
    batch: { max_items: 1_000, max_bytes: 2_000_000, interval_ms: 10_000 },
    item_keys: ['orderReference'],
    answers: ANSWERS,
  },
  event_name: { target: 'kind' },
  compact: [{ path: 'basket', needs: ['id'] }],
  require_one_of: [['awc', 'voucher']],
  default_action: 'drop',
  // 20 calls a minute.
  rate: { rps: 0.33, burst: 1 },
  concurrency: 1,
  variants,
});
