/**
 * https://docs.developers.optimizely.com/optimizely-data-platform/docs/thebasics-events; orders and customers: ZaiusInc/api-docs, rest-api/;
 * standard events: ZaiusInc/web-sdk-docs, events/; fields: ZaiusInc/zaius-php-sdk; optimizely/python-sdk, odp_event_api_manager.py.
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { oneBadFailsAll } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal, productList, WITHOUT_SIGN } from '../shared/commerce.ts';
import { select, text } from '../shared/fields.ts';
import { event, from, type Rest, set } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';
import { PLAIN_EMAIL } from '../shared/user-data.ts';

const kind = (type: string, action: string): JsonObject[] => [set('type', type), set('action', action)];
const PRODUCT = from(source.productId, 'data.product_id', ['to_string'], { required: true });
const TOTAL = [
  from(source.ORDER_ID, 'data.order.order_id', ['to_string'], { required: true }),
  ...orderTotal('data.order.total', { required: true }),
  from('properties.subtotal', 'data.order.subtotal', ['to_number']),
];
const ORDER = [
  ...TOTAL,
  ...['discount', 'tax', 'shipping'].map((name) => from(`properties.${name}`, `data.order.${name}`, ['to_number'])),
  from('properties.coupon', 'data.order.coupon_code', ['to_string']),
  ...productList(
    'data.order.items',
    { id: 'product_id', price: 'price', quantity: 'quantity', discount: 'discount' },
    { default_quantity: true },
  ),
];
/**
 * ODP subtracts total and subtotal from the order, and both are the amount if the event does not say otherwise. Tax and shipping would
 * replace those of the order, so they are left out; items are not needed.
 */
const REVERSAL = [
  ...TOTAL,
  ...['subtotal', 'total'].flatMap((name) => orderTotal(`data.order.${name}`, {}, source.VALUE, WITHOUT_SIGN)),
  from('properties.subtotal', 'data.order.subtotal', WITHOUT_SIGN),
];
/** ODP keeps host and path of a page apart. */
const page = (sources: string[], rest: Rest = {}): JsonObject[] => [
  from(sources, 'data.hostname', ['url_host'], rest),
  from(sources, 'data.page', ['url_path'], rest),
];
const IS_EVENT = { when: { field: 'type', op: 'in', value: ['track', 'page'] } };
const NOT_IDENTIFY = { when: { field: 'type', op: 'ne', value: 'identify' } };
const post = (path: string): RequestDefinition => ({
  method: 'POST',
  url: `https://{{parameters.region}}/v3/${path}`,
  headers: { 'x-api-key': '{{parameters.api_key}}' },
  body: { kind: 'json_list' },
  batch: { max_items: 500, max_bytes: 500_000, interval_ms: 1_000 },
  answers: oneBadFailsAll('body.detail.invalids[0].message'),
});
/** Events of no standard: a type of their own, the name as action. */
const CUSTOM = [set('type', 'custom'), set('action', '')];

export default defineVendor({
  key: 'optimizely',
  name: 'Optimizely Data Platform',
  description: 'Events and customers into Optimizely Data Platform (ODP), for audiences and experiments.',
  category: 'other',
  group: 'personalisation_and_testing',
  status: 'ga',
  website: 'https://docs.developers.optimizely.com/optimizely-data-platform/docs/thebasics-events',
  api_version: { version: 'v3', checked: '2026-11-16' },
  default_consent_category: 'analytics',
  setup_steps: [
    'In ODP open Settings, APIs, and copy the public key (tracker ID).',
    'Create the identifiers and event fields that you map, if they are not there.',
  ],
  see_it: 'Open Customers, All customers, the profile, Activity: the event shows there.',
  notes: [
    'Several identifiers in one event join the customer: an identify sends them, and traits as an update of the customer.',
    'The event id is sent as data.idempotence_id, as Optimizely’s libraries do.',
    'Events are immutable in ODP.',
    'Experiments that count visitors by their visitor id need the Event API of Feature Experimentation, which is not used here.',
    'A refund or a cancellation subtracts its total from the order. Its tax, shipping and products are not sent.',
    'A group call is an event of the type group. Create the event field group_id to keep the id.',
  ],
  config_fields: [
    text('api_key', 'Public API key', 'W4WzcEs-ABgXorzY7h1LCQ', 'Settings, APIs, Public.', {
      pattern: '^[^.\\s]+$',
      pattern_hint: 'the public key, without a period (a private key has one)',
    }),
    select(
      'region',
      'Region',
      ['api.us1.odp.optimizely.com', 'api.eu1.odp.optimizely.com', 'api.au1.odp.optimizely.com'],
      'The region of the account.',
    ),
  ],
  requests: [
    {
      ...post('profiles'),
      name: 'profile',
      when: { field: 'payload.attributes', op: 'exists' },
      items: 'attributes',
      shape: { attributes: { $ref: 'payload' } },
    },
    { ...post('events'), name: 'events' },
  ],
  event_name: { target: 'action', only_with: 'action', style: 'identifier' },
  compact: [{ path: 'data.order.items', needs: ['product_id'] }],
  require_one_of: [
    ['identifiers.customer_id', 'identifiers.email', 'identifiers.fs_user_id', 'attributes.customer_id', 'attributes.email'],
  ],
  default_action: 'drop',
  // 10 requests a second for events, and as many for customers (ZaiusInc/api-docs, rate-limits.md).
  rate: { rps: 10 },
  variants: blueprints({
    names: 'keep',
    global: [
      from('user_id', 'identifiers.customer_id', [], NOT_IDENTIFY),
      from('user_id', 'identifiers.fs_user_id', [], NOT_IDENTIFY),
      from(source.EMAIL, 'identifiers.email', [PLAIN_EMAIL], IS_EVENT),
      from('context.traits.email', 'identifiers.email', [PLAIN_EMAIL], { when: source.IS_GROUP }),
      from('timestamp', 'data.ts', ['to_unix_seconds'], NOT_IDENTIFY),
      from('event_id', 'data.idempotence_id', [], NOT_IDENTIFY),
      set('data.data_source_type', 'firsthand', NOT_IDENTIFY),
      ...page(source.PAGE_URL, NOT_IDENTIFY),
    ],
    lines: Object.fromEntries(EVENT_KINDS.map((one) => [one, CUSTOM])),
    instead: {
      'Products Searched': [
        ...kind('navigation', 'search'),
        from(['properties.query', 'properties.search_term'], 'data.search_term', ['to_string']),
      ],
      'Product Viewed': [...kind('product', 'detail'), PRODUCT],
      'Product Added': [...kind('product', 'add_to_cart'), PRODUCT],
      'Product Removed': [...kind('product', 'remove_from_cart'), PRODUCT],
      'Product Added to Wishlist': [...kind('product', 'add_to_wishlist'), PRODUCT],
      'Product Removed from Wishlist': [...kind('product', 'remove_from_wishlist'), PRODUCT],
      'Signed Up': kind('account', 'register'),
      'Signed In': kind('account', 'login'),
      'Order Completed': [...kind('order', 'purchase'), ...ORDER],
      'Order Refunded': [...kind('order', 'refund'), ...REVERSAL],
      'Order Cancelled': [...kind('order', 'cancel'), ...REVERSAL],
    },
    others: {
      '@page': event(undefined, [set('type', 'pageview'), from(source.PAGE_TITLE, 'data.title'), ...page(source.OWN_PAGE_URL)]),
      '@identify': event(undefined, [
        from('user_id', 'attributes.customer_id'),
        from(source.EMAIL, 'attributes.email', [PLAIN_EMAIL]),
        from(source.FIRST_NAME, 'attributes.first_name', ['trim']),
        from(source.LAST_NAME, 'attributes.last_name', ['trim']),
      ]),
      '@group': event(undefined, [...kind('group', 'join'), from('group_id', 'data.group_id')]),
    },
    defaults: { action: 'map', mappings: CUSTOM },
  }),
});
