/** https://docs.tealium.com/platforms/http-api/endpoint/ */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal } from '../shared/commerce.ts';
import { contextLines } from '../shared/context.ts';
import { optionalText, text } from '../shared/fields.ts';
import { event, from, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { OWN_NAMES } from '../shared/standard-events.ts';
import { ofUser, PLAIN_EMAIL } from '../shared/user-data.ts';

/** Products are parallel lists: a missing value keeps its place. */
const LISTS: readonly [name: string, field: string[], transform: string, missing: string | number][] = [
  ['product_id', ['product_id', 'sku'], 'to_string', ''],
  ['product_name', ['name'], 'to_string', ''],
  ['product_category', ['category'], 'to_string', ''],
  ['product_brand', ['brand'], 'to_string', ''],
  ['product_unit_price', ['price'], 'to_number', 0],
  ['product_quantity', ['quantity'], 'to_integer', 1],
];
const LIST: JsonObject[] = LISTS.map(([name, fields, transform, missing]) =>
  from(product(...fields), name, [transform, use('fill_missing', missing)]),
);
const SINGLE: JsonObject[] = LISTS.map(([name, fields, transform]) =>
  from(
    fields.map((field) => `properties.${field}`),
    `${name}[0]`,
    [transform],
    { when: source.HAS_PRODUCT },
  ),
);
const ORDER = [
  ...LIST,
  from(source.ORDER_ID, 'order_id', ['to_string']),
  ...orderTotal('order_total'),
  from('properties.currency', 'order_currency', ['currency_code']),
  from('properties.tax', 'order_tax', ['to_number']),
  from('properties.shipping', 'order_shipping', ['to_number']),
];

export default defineVendor({
  key: 'tealium',
  name: 'Tealium',
  description: 'Events into Tealium EventStream and AudienceStream through Tealium Collect.',
  category: 'cdp',
  group: 'cdp',
  status: 'ga',
  website: 'https://docs.tealium.com/platforms/http-api/endpoint/',
  api_version: { version: 'Collect HTTP API v1', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In Tealium open Sources, Data sources, Add data source, HTTP API, and copy its key.',
    'Add the attributes that the events use in EventStream, Attributes.',
  ],
  see_it: 'Open EventStream, Live events; with a trace id, Trace.',
  // docs.tealium.com/platforms/http-api/endpoint: tealium_trace_id
  test_mode: { field: 'trace_id', effect: 'Events with the ID of a trace show in the trace as they are processed.' },
  notes: [
    'Properties are flattened, because attributes are; products are sent as parallel lists.',
    'Tealium counts an event when it arrives; its own time is sent as event_timestamp.',
    'There is no deduplication: a retry after a timeout can count an event twice.',
    'Attributes beside Tealium’s own (tealium_…) have the names that you give them in Tealium: edit the blueprint to match yours.',
    'Tealium does not document an answer for an unknown account or profile: look for the first event in Live events.',
  ],
  config_fields: [
    text('account', 'Account', 'acme', 'The name of the account, at the top of every page.', {
      pattern: '^[A-Za-z0-9_.-]+$',
      pattern_hint: 'the name of the account',
    }),
    optionalText('profile', 'Profile', 'main', 'The name of the profile, at the top of every page.', {
      default: 'main',
      pattern: '^[A-Za-z0-9_.-]+$',
      pattern_hint: 'the name of the profile',
    }),
    optionalText('data_source', 'Data source key', 'abc123', 'Sources, Data sources.'),
    optionalText('trace_id', 'Trace ID', '00000', 'Only for a test: the ID of a trace that you started in Trace.'),
  ],
  request: {
    method: 'POST',
    url: 'https://collect.tealiumiq.com/event',
    fill: {
      tealium_account: '{{parameters.account}}',
      tealium_profile: '{{parameters.profile}}',
      tealium_datasource: '{{parameters.data_source}}',
      tealium_trace_id: '{{parameters.trace_id}}',
    },
    body: { kind: 'json' },
    answers: [RETRY_TIMEOUT],
  },
  event_name: { target: 'tealium_event' },
  require_one_of: [['tealium_visitor_id', 'customer_id']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: {
      ...OWN_NAMES,
      'Products Searched': 'search',
      'Product List Viewed': 'category_view',
      'Product Viewed': 'product_view',
      'Product Added': 'cart_add',
      'Product Removed': 'cart_remove',
      'Product Added to Wishlist': 'wishlist_add',
      'Cart Viewed': 'cart_view',
      'Checkout Started': 'checkout',
      'Order Completed': 'purchase',
      'Signed Up': 'user_register',
      'Signed In': 'user_login',
    },
    global: [
      from('properties', '$', [use('omit', 'products'), use('flatten', '_')]),
      from('anonymous_id', 'tealium_visitor_id'),
      from('user_id', 'customer_id'),
      ...ofUser(source.EMAIL, 'customer_email', [PLAIN_EMAIL]),
      from('event_id', 'event_id'),
      from('timestamp', 'event_timestamp'),
      ...contextLines('', {
        url: 'page_url',
        referrer: 'page_referrer',
        title: 'page_title',
        ip: 'ip_address',
        user_agent: 'user_agent',
        locale: 'language',
        app_version: 'app_version',
      }),
    ],
    lines: { product: SINGLE, list: LIST, cart: ORDER, order: ORDER, purchase: ORDER, refund: ORDER },
    others: {
      '@page': event('page_view', [from('name', 'page_name')]),
      '@screen': event('screen_view', [from('name', 'screen_name')]),
      '@identify': event('user_update', [from('traits', '$', [use('flatten', '_')])]),
      '@group': event('group', [from('group_id', 'group_id'), from('traits.name', 'group_name')]),
    },
    defaults: { action: 'map' },
  }),
});
