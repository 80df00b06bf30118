/** AppLovin Axon Conversion API v1. support.axon.ai, Axon Conversion API, read on 2026-11-16. */
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { adEvents } from '../shared/ad-events.ts';
import { adLines } from '../shared/ad-lines.ts';
import { oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderCosts, productList } from '../shared/commerce.ts';
import { advertisingId, deviceIds } from '../shared/device.ts';
import { idOf, secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { userData } from '../shared/user-data.ts';

const ITEM_FIELDS = {
  id: 'item_id',
  name: 'item_name',
  brand: 'item_brand',
  variant: 'item_variant_id',
  price: 'price',
  quantity: 'quantity',
  discount: 'discount',
  image: 'image_url',
};
const STYLE = { default_quantity: true };
/** One of them must be there. */
const USER_IDS = ['aleid', 'axwrt', 'alart', 'client_id', 'user_id', 'email', 'phone'];
const lines = adLines({
  products: { at: 'data.items', names: ITEM_FIELDS, style: STYLE },
  value: 'data.value',
  currency: 'data.currency',
  value_required: true,
  value_when: { field: 'properties.currency', op: 'exists' },
  query: 'data.search_term',
});
/** What a search found is in results, not in items. */
const SEARCH = [
  from(['properties.query', 'properties.destination', 'properties.city'], 'data.search_term', ['to_string']),
  ...productList('data.results', ITEM_FIELDS, STYLE),
];
/** Axon requires the items of a purchase and of a checkout. The list is filled by the lines after this one. */
const ITEMS = from('properties.products', 'data.items', [use('take', 0)], { required: true });
const ORDER_ID = from(source.ORDER_ID, 'data.transaction_id', ['to_string'], { required: true });
/** The same for the single product of a view or an addition. */
const ITEM = from(source.productId, 'data.items[0].item_id', ['to_string'], { required: true });
const VIEWS = { 'Product Viewed': 'view_item', 'Offer Viewed': 'view_item', 'Hotel Viewed': 'view_item', 'Flight Viewed': 'view_item' };
const ADDITIONS = adEvents({ cart: 'add_to_cart' });
const CHECKOUT = [ITEMS, ...lines.purchase];
const PURCHASE = [...CHECKOUT, ORDER_ID, ...orderCosts('data')];

const variants = blueprints({
  // Articles and videos are no items, so they are not views of an item.
  names: {
    ...VIEWS,
    ...ADDITIONS,
    ...adEvents({
      search: 'search',
      remove: 'remove_from_cart',
      view_cart: 'view_cart',
      checkout: 'begin_checkout',
      payment: 'add_payment_info',
      purchase: 'purchase',
      registration: 'sign_up',
      login: 'login',
      lead: 'generate_lead',
      subscribe: 'subscribe',
    }),
  },
  global: [
    from('event_id', 'dedupe_id'),
    from('timestamp', 'event_time', ['to_unix_millis']),
    from(source.PAGE_URL, 'event_source_url'),
    set('data', {}),
    set('user_data.esi', 'web'),
    set('user_data.esi', 'app', { when: source.IS_APP }),
    ...userData('user_data', { email: 'email', phone: 'phone' }, { phone: 'digits' }),
    from('context.ip', 'user_data.client_ip_address', [], { required: true }),
    from('context.user_agent', 'user_data.client_user_agent', [], { required: true }),
    from(source.clickId('aleid', 'axeid'), 'user_data.aleid'),
    from(source.clickId('alart', 'axart'), 'user_data.alart'),
    from('context.vendor_ids.axwrt', 'user_data.axwrt'),
    from('anonymous_id', 'user_data.client_id'),
    from('user_id', 'user_data.user_id'),
    from(source.COUNTRY, 'user_data.country_code', ['country_code', 'uppercase']),
    // The first five digits in the United States.
    from(source.POSTAL_CODE, 'user_data.zip', ['trim', use('replace', '^(\\d{5})-?\\d{4}$', '$1')]),
    advertisingId('user_data.ifa'),
    ...deviceIds({ idfv: 'user_data.idfv' }),
    set('user_data.os', 'ios', { when: source.IS_APPLE }),
    set('user_data.os', 'android', { when: source.IS_ANDROID }),
  ],
  // A lead must have a value and a currency, as a purchase.
  lines: { ...lines, lead: lines.purchase, search: SEARCH, order: CHECKOUT, trip_order: CHECKOUT, purchase: PURCHASE, booking: PURCHASE },
  extra: {
    ...Object.fromEntries(Object.keys({ ...VIEWS, ...ADDITIONS }).map((name) => [name, [ITEM]])),
    'Newsletter Subscribed': lines.purchase,
  },
  others: { '@page': event('page_view', [from(source.OWN_PAGE_URL, 'event_source_url')]), 'Application Opened': event('app_open', []) },
});

export default defineVendor({
  key: 'applovin_axon',
  name: 'AppLovin Axon',
  description: 'Web and app events into AppLovin’s Axon, for measurement and optimisation of ads.',
  category: 'advertising',
  group: 'advertising',
  status: 'beta',
  website: 'https://support.axon.ai/en/growth/promoting-your-websites/api/axon-conversion-api/',
  api_version: { version: 'v1', checked: '2026-11-16' },
  setup_steps: [
    'In Axon Ads Manager open Account, Keys, and copy the Axon event key and the Conversion API key.',
    'Let the collector read the cookies _axwrt, _axeid and _axart, which the Axon pixel sets.',
  ],
  see_it: 'Open Events Manager of Axon: the event shows with its match quality after some minutes.',
  notes: [
    'Open: some fields of user_data (os, ifa, idfv, zip) were seen in a schema that quotes the documentation.',
    'Axon merges events with the same dedupe_id that arrive within five minutes, so retries are safe.',
    'A purchase needs currency, value, items and an order id, a checkout the first three, a lead the first two, a view and an addition the item; they are dropped without them.',
    'Axon requires the address of the page. Events without one, such as those of most apps, are dropped.',
    'Advertisers of the lead product may send page_view and generate_lead only: disable the other events.',
  ],
  default_consent_category: 'advertising',
  config_fields: [
    text(
      'event_key',
      'Axon event key',
      '0a1b2c3d-1111-4222-8333-abcdefabcdef',
      'Axon Ads Manager, Account, Keys.',
      idOf('the Axon event key'),
    ),
    secret('api_key', 'Conversion API key', 'axon_examplekey0123456789', 'Axon Ads Manager, Account, Keys.'),
  ],
  request: {
    method: 'POST',
    url: 'https://b.applovin.com/v1/event',
    query: { pixel_id: '{{parameters.event_key}}' },
    auth: { kind: 'header', name: 'Authorization', value: '{{parameters.api_key}}' },
    body: { kind: 'json_list', under: 'events' },
    batch: { max_items: 100, max_bytes: 1_000_000, interval_ms: 1_000 },
    answers: oneBadFailsAll(),
  },
  event_name: { target: 'name' },
  compact: ['data.items', 'data.results'].map((path) => ({ path, needs: ['item_id'] })),
  require_one_of: [['event_source_url'], USER_IDS.map((id) => `user_data.${id}`)],
  default_action: 'drop',
  rate: { rps: 20, burst: 40 },
  variants,
});
