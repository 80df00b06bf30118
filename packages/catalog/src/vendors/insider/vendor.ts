/**
 * https://academy.insiderone.com/docs/upsert-user-data (the vendor's Postman collection). The names of its standard events are those of
 * the destination that Insider maintains in segmentio/action-destinations.
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import { errorInside, RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { HAS_PRICES } from '../shared/commerce.ts';
import { secret, text } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';
import { ofUser, PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const EVENT = 'events[0]';
const PARAMS = `${EVENT}.event_params`;
/** Parameters of Insider's own; every other property goes under custom. */
const CUSTOM = [from('properties', `${PARAMS}.custom`, [use('omit', 'products')]), from('timestamp', `${EVENT}.timestamp`)];
const one: JsonObject[] = [
  from(source.productId, `${PARAMS}.product_id`, ['to_string'], { required: true }),
  from(source.productName, `${PARAMS}.name`, ['to_string']),
  from(source.CATEGORY, `${PARAMS}.taxonomy[0]`, ['to_string']),
  from('properties.currency', `${PARAMS}.currency`, ['currency_code']),
  from('properties.price', `${PARAMS}.unit_price`, ['to_number']),
  from('properties.price', `${PARAMS}.unit_sale_price`, ['to_number']),
  from('properties.quantity', `${PARAMS}.quantity`, ['to_integer']),
  from('properties.url', `${PARAMS}.url`),
  from('timestamp', `${EVENT}.timestamp`),
];
const each = (name: string) => `events[*].event_params.${name}`;
/** One event for each product. */
const purchase = (name: string): JsonObject[] => [
  set('events[*].event_name', name),
  from(product('product_id', 'sku'), each('product_id'), ['to_string']),
  from(product('name'), each('name'), ['to_string']),
  from(product('category'), each('taxonomy[0]'), ['to_string']),
  from(product('price'), each('unit_price'), ['to_number']),
  from(product('price'), each('unit_sale_price'), ['to_number'], { required: true }),
  from(product('price'), each('unit_sale_price'), ['to_number'], { default: 0, when: HAS_PRICES }),
  from(product('quantity'), each('quantity'), ['to_integer'], { default: 1 }),
  from('properties.currency', each('currency'), ['currency_code'], { required: true }),
  from([...source.ORDER_ID, 'properties.cart_id'], each('event_group_id'), ['to_string'], { required: true }),
  from('timestamp', 'events[*].timestamp'),
];
const ATTRIBUTES = [
  from(source.FIRST_NAME, 'attributes.name', ['trim']),
  from(source.LAST_NAME, 'attributes.surname', ['trim']),
  from(source.COUNTRY, 'attributes.country', ['country_code', 'uppercase']),
  from(source.CITY, 'attributes.city', ['to_string']),
  from('context.locale', 'attributes.language', [use('replace', '-', '_')]),
];

export default defineVendor({
  key: 'insider',
  name: 'Insider One',
  description: 'Users, their attributes and events into Insider One.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://academy.insiderone.com/docs/upsert-user-data',
  api_version: { version: 'user v1', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Insider One open InOne settings, Inone settings, Integration settings, and generate a token of the Unified Customer Database (UCD) API.',
    'Define the events and attributes that you send (Components, Events and attributes).',
  ],
  see_it: 'Open Audience, User profiles, look the user up, and open the event timeline.',
  notes: [
    'An order is one purchase event for each product, with the order id as event_group_id.',
    'Properties without a parameter of Insider’s own go under custom.',
    'If a request names errors, each user is sent alone; Insider stores an identical event once.',
    'Insider rejects names of events that begin with a capital letter: names of events and of custom parameters are sent in lower case, with underscores.',
  ],
  config_fields: [
    text('partner_name', 'Partner name', 'acme', 'The name of the panel in its address, in lower case.', {
      pattern: '^[a-z0-9_-]+$',
      pattern_hint: 'lower-case letters, digits, dashes and underscores',
    }),
    secret('request_token', 'Request token', '0123456789abcdef0123456789abcdef', 'Integration settings, UCD API.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  request: {
    method: 'POST',
    url: 'https://unification.useinsider.com/api/user/v1/upsert',
    headers: { 'X-PARTNER-NAME': '{{parameters.partner_name}}', 'X-REQUEST-TOKEN': '{{parameters.request_token}}' },
    body: { kind: 'json_list', under: 'users' },
    batch: { max_items: 500, max_bytes: 4_000_000, interval_ms: 1_000 },
    answers: [
      errorInside({ field: 'body.data.fail.count', op: 'gt', value: 0 }, 'body.data.fail.errors', [200]),
      { status: [403], when: { field: 'body', op: 'contains', value: 'Limit Exceeded' }, verdict: 'unavailable' },
      { status: [400, 422], verdict: 'refused', isolate: true },
      RETRY_TIMEOUT,
    ],
  },
  event_name: { target: `${EVENT}.event_name`, only_with: EVENT, style: 'lower_identifier' },
  limits: [{ path: 'events[*].event_params.custom', key_style: 'lower_identifier' }],
  require_one_of: [['identifiers.email', 'identifiers.phone_number', 'identifiers.uuid']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: 'keep',
    global: [
      ...ofUser(source.EMAIL, 'identifiers.email', [PLAIN_EMAIL]),
      ...ofUser(source.PHONE, 'identifiers.phone_number', [PLAIN_PHONE]),
      from('user_id', 'identifiers.uuid'),
    ],
    lines: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, CUSTOM])),
    instead: {
      'Product Viewed': [set(`${EVENT}.event_name`, 'product_detail_page_view'), ...one],
      'Product Added': [set(`${EVENT}.event_name`, 'item_added_to_cart'), ...one],
      'Product Removed': [set(`${EVENT}.event_name`, 'item_removed_from_cart'), ...one],
      'Cart Viewed': purchase('cart_page_view'),
      'Order Completed': purchase('purchase'),
    },
    others: {
      '@page': event('page_view', [...CUSTOM, from(source.OWN_PAGE_URL, `${PARAMS}.url`)]),
      '@identify': event(undefined, [...ATTRIBUTES, set('not_append', true)]),
      '@group': event(undefined, [from('group_id', 'attributes.custom.group_id'), from('traits.name', 'attributes.custom.group_name')]),
    },
    defaults: { action: 'map', mappings: CUSTOM },
  }),
});
