/** CJ (Commission Junction) server-to-server tracking. docs.cj.com/docs/s2s-implementation, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { HAS_PRICES, orderTotal, pricedProducts } from '../shared/commerce.ts';
import { digits, eventTable, text } from '../shared/fields.ts';
import { from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';

const ORDER = [
  from('properties.currency', 'CURRENCY', ['currency_code'], { required: true }),
  from('properties.coupon', 'COUPON'),
  from('properties.discount', 'DISCOUNT', ['to_number']),
  ...orderTotal('AMOUNT', { when: { not: HAS_PRICES } }, ['properties.subtotal', ...source.REVENUE]),
  ...pricedProducts('items', { id: 'ITEM', price: 'AMT', quantity: 'QTY', discount: 'DCNT' }),
];

const variants = blueprints({
  // CJ knows actions by their tracker. The table enables an event and gives its action tracker.
  names: {},
  global: [
    from('parameters.enterprise_id', 'CID'),
    set('METHOD', 'S2S'),
    from(source.clickId('cjevent', 'cje'), 'CJEVENT', [use('truncate', 64)], { required: true }),
    from('timestamp', 'EVENTTIME', ['to_iso8601']),
    from([...source.ORDER_ID, 'event_id'], 'OID', ['to_string']),
    from('properties.is_new_customer', 'CUST_STATUS', ['to_boolean'], { value_map: { true: 'New', false: 'Return' } }),
  ],
  lines: { purchase: ORDER, booking: ORDER, subscription: ORDER },
});

export default defineVendor({
  key: 'cj',
  name: 'CJ',
  description: 'Orders and leads of the CJ affiliate network, through server-to-server tracking.',
  category: 'advertising',
  group: 'affiliate',
  status: 'beta',
  website: 'https://docs.cj.com/docs/s2s-implementation',
  api_version: { version: 'S2S', checked: '2026-11-16' },
  setup_steps: [
    'Ask your CJ integration engineer for server-to-server tracking, the enterprise ID and the action tracker of each event.',
    'Let the collector remember the click id cjevent; the first-party cookie cje is read too.',
  ],
  see_it: 'Open Insights, Transaction detail: the order shows with its order id after the nightly processing.',
  notes: [
    'Open: AMOUNT of orders without items was seen in a public integration. The documentation writes EVENTTIME in its table and eventTime in its example.',
    'Only events with a CJEVENT are sent. CJ deduplicates by order id, so the tag may run beside it.',
    'AMT is the price of one unit. Discounts of an item are DCNT, of the order DISCOUNT.',
    'CJ answers a pixel without a reason: a rejected order is seen in its reports only.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text('enterprise_id', 'Enterprise ID', '1234567', 'From your CJ integration engineer; also called CID.', digits()),
    eventTable(
      'action_trackers',
      'Action trackers',
      text('action_tracker_id', 'Action tracker ID', '345678', 'CJ, Account, Action trackers.', digits()),
      'Events and the action tracker of each. A row enables its event.',
    ),
  ],
  request: { method: 'GET', url: 'https://www.emjcd.com/u', body: { kind: 'query', numbered: 'items' }, answers: [RETRY_TIMEOUT] },
  event_name: { target: 'TYPE' },
  event_table: { field: 'action_trackers', event: 'event', vendor_event_name: 'action_tracker_id' },
  compact: [{ path: 'items', needs: ['ITEM'] }],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants,
});
