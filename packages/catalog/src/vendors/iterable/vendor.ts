/** https://api.iterable.com/api/docs; Iterable/api-client, src/types; Iterable/iterable-web-sdk, src/commerce/types.ts. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { HAS_PRICES, orderTotal, productList } from '../shared/commerce.ts';
import { secret, select } from '../shared/fields.ts';
import { event, from, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const BY_EMAIL = { field: 'parameters.user_key', op: 'eq', value: 'email' };
/** A text that is no address (empty, or `n/a`) does not identify anybody, so the user id counts. */
const HAS_EMAIL = { any: source.EMAIL.map((field) => ({ field, op: 'matches', value: '^\\s*[^@\\s]+@[^@\\s]+\\s*$' })) };
/** The address of the project's key, otherwise the user id. The address in the traits of a group is that of the group. */
const IS_ADDRESSED = { all: [BY_EMAIL, HAS_EMAIL, { not: source.IS_GROUP }] };
const known = (at: string): JsonObject[] => [
  from(source.EMAIL, `${at}.email`, [PLAIN_EMAIL], { when: IS_ADDRESSED }),
  from('user_id', `${at}.userId`, [], { when: { not: IS_ADDRESSED } }),
];
/**
 * Iterable finds users by their address and stores the user id beside it. A project that identifies by address creates a user who has
 * only an id if `preferUserId` asks for it, and rejects the request otherwise.
 * https://support.iterable.com/hc/en-us/articles/29156459027348
 */
const PROFILE = [from('user_id', 'user.userId'), set('user.preferUserId', true)];
const TRACK = [
  from('timestamp', 'event.createdAt', ['to_unix_seconds']),
  from('event_id', 'event.id'),
  from('properties', 'event.dataFields'),
];

const OWN_FIELDS = ['email', 'phone', 'first_name', 'last_name'];
const IDENTIFY = [
  from('traits', 'user.dataFields', [use('omit', ...OWN_FIELDS)]),
  from(source.FIRST_NAME, 'user.dataFields.firstName', ['trim']),
  from(source.LAST_NAME, 'user.dataFields.lastName', ['trim']),
  from(source.PHONE, 'user.dataFields.phoneNumber', [PLAIN_PHONE]),
  set('user.mergeNestedObjects', true),
  ...PROFILE,
  // Where the user id is the key, the address is a field like others.
  from(source.EMAIL, 'user.dataFields.email', [PLAIN_EMAIL], { when: { not: BY_EMAIL } }),
];
const GROUP = [from('group_id', 'user.dataFields.group_id'), from('traits.name', 'user.dataFields.group_name'), ...PROFILE];

const PRODUCT = { id: 'id', quantity: 'quantity', url: 'url', image: 'imageUrl' };
const items = (list: string) => [
  ...productList(`${list}.items`, PRODUCT, { default_quantity: true }),
  from(product('product_id', 'sku'), `${list}.items[*].id`, ['to_string'], { required: true }),
  // Iterable requires name and price of every item; an item without a name is known by its id.
  from(product('name', 'product_name', 'product_id', 'sku'), `${list}.items[*].name`, ['to_string']),
  from(product('price'), `${list}.items[*].price`, ['to_number'], { required: true }),
  // Beside others that have one. The total does not depend on it.
  from(product('price'), `${list}.items[*].price`, ['to_number'], { default: 0, when: HAS_PRICES }),
  from(product('sku'), `${list}.items[*].sku`, ['to_string']),
  from(product('category'), `${list}.items[*].categories[0]`, ['to_string']),
];
const PURCHASE = [
  ...items('purchase'),
  ...orderTotal('purchase.total'),
  from(source.ORDER_ID, 'purchase.id', ['to_string']),
  from('timestamp', 'purchase.createdAt', ['to_unix_seconds']),
  from('properties', 'purchase.dataFields', [use('omit', 'products')]),
];

const FAILED = ['invalid', 'notFound', 'failed', 'invalidData', 'conflict', 'forgotten'];
const ANSWERS: AnswerRule[] = [
  // 200: the addresses and ids that failed are listed, and the names of events that the project does not accept.
  {
    status: ['2xx'],
    verdict: 'partial',
    partial: {
      keys: [
        ...FAILED.flatMap((name) => [`body.failedUpdates.${name}Emails`, `body.failedUpdates.${name}UserIds`]),
        'body.disallowedEventNames',
      ],
      reason: 'body.msg',
      failed: 'refused',
      others: 'delivered',
    },
  },
  { status: [400, 413], verdict: 'refused', reason: 'body.msg', isolate: true },
  { status: [401], verdict: 'refused', reason: 'body.msg' },
  { status: [429], verdict: 'unavailable', reason: 'body.msg' },
  RETRY_TIMEOUT,
];
const post = (name: string, path: string): Pick<RequestDefinition, 'name' | 'method' | 'url' | 'auth' | 'answers'> => ({
  name,
  method: 'POST',
  url: `https://{{parameters.region}}/api/${path}`,
  auth: { kind: 'header', name: 'Api-Key', value: '{{parameters.api_key}}' },
  answers: ANSWERS,
});
const BATCH = { max_items: 1_000, max_bytes: 3_500_000, interval_ms: 1_000 };

export default defineVendor({
  key: 'iterable',
  name: 'Iterable',
  description: 'Users, custom events, purchases and carts into Iterable.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://api.iterable.com/api/docs',
  api_version: { version: 'api', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Iterable open Integrations, API keys, New API key, of the type Server-side.',
    'Choose the data centre of the project: keys of the EU work only at api.eu.iterable.com.',
    'Choose how the project identifies its users (Settings, Project settings).',
  ],
  see_it: 'Open Audience, Contact lookup, the user, Event history.',
  notes: [
    'An order is a purchase (trackPurchase); the products of the cart replace the cart (updateCart).',
    'An event without the key of the project (address or user id) is dropped, as are events of visitors without either.',
    'A custom event does not create a user: an identify, an order or a cart does.',
    'Iterable requires id, name, price and quantity of every item. The name is the id and the quantity 1 where the event has none.',
    'Iterable accepts 10 requests a second for events and 5 for users; for purchases and carts it publishes no rate.',
  ],
  config_fields: [
    secret('api_key', 'API key', '0123456789abcdef0123456789abcdef', 'Integrations, API keys. A server-side key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
    select(
      'region',
      'Data centre',
      ['api.iterable.com', 'api.eu.iterable.com'],
      'The address bar of Iterable shows app.iterable.com or app.eu.iterable.com.',
    ),
    select(
      'user_key',
      'Users are identified by',
      ['email', 'user_id'],
      'Settings, Project settings. email: the address, or the user id where there is none. user_id: the user id only.',
    ),
  ],
  requests: [
    {
      ...post('purchase', 'commerce/trackPurchase'),
      when: { field: 'payload.purchase', op: 'exists' },
      body: { kind: 'json' },
      items: 'purchase',
      merge: ['buyer'],
    },
    {
      ...post('cart', 'commerce/updateCart'),
      when: { field: 'payload.cart', op: 'exists' },
      body: { kind: 'json' },
      items: 'cart',
      merge: ['buyer'],
    },
    {
      ...post('users', 'users/bulkUpdate'),
      when: { field: 'payload.user', op: 'exists' },
      items: 'user',
      merge: ['who'],
      item_keys: ['email', 'userId'],
      body: { kind: 'json_list', under: 'users' },
      batch: BATCH,
    },
    {
      ...post('events', 'events/trackBulk'),
      items: 'event',
      merge: ['who'],
      item_keys: ['email', 'userId', 'eventName'],
      body: { kind: 'json_list', under: 'events' },
      batch: BATCH,
    },
  ],
  event_name: { target: 'event.eventName' },
  require_one_of: [['who.email', 'who.userId']],
  compact: [
    { path: 'purchase.items', needs: ['id'] },
    { path: 'cart.items', needs: ['id'] },
  ],
  default_action: 'drop',
  rate: { rps: 10, burst: 20 },
  variants: blueprints({
    names: 'keep',
    global: [...known('who'), ...known('buyer.user'), set('buyer.user.preferUserId', true, { when: { not: IS_ADDRESSED } }), ...TRACK],
    lines: { purchase: PURCHASE, cart: items('cart') },
    others: {
      '@page': event('Page Viewed', [from('name', 'event.dataFields.page_name'), from(source.OWN_PAGE_URL, 'event.dataFields.page_url')]),
      '@screen': event('Screen Viewed', [from('name', 'event.dataFields.screen_name')]),
      '@identify': event(undefined, IDENTIFY),
      '@group': event(undefined, GROUP),
    },
  }),
});
