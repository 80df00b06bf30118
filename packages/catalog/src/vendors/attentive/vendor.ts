/** https://docs.attentivemobile.com/openapi/reference/tag/Ecommerce and /Custom-Events */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { productList, singleProduct } from '../shared/commerce.ts';
import { secret } from '../shared/fields.ts';
import { DISABLED, from } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const post = (name: string, path: string): RequestDefinition => ({
  name,
  when: { field: `payload.${name}`, op: 'exists' },
  method: 'POST',
  url: `https://api.attentivemobile.com/v1/${path}`,
  auth: { kind: 'bearer', token: '{{parameters.api_key}}' },
  items: name,
  merge: ['who'],
  body: { kind: 'json' },
  answers: [RETRY_TIMEOUT],
});
const PRODUCT = { id: 'productId', name: 'name', quantity: 'quantity', url: 'productUrl', image: 'productImage' };
const WHEN = { when: source.HAS_PRODUCT };
const one = (at: string): JsonObject[] => [
  ...singleProduct(`${at}.items`, PRODUCT),
  from(['properties.variant_id', 'properties.sku', 'properties.product_id'], `${at}.items[0].productVariantId`, ['to_string'], WHEN),
  from('properties.price', `${at}.items[0].price[0].value`, ['to_number'], { required: true }),
  from('properties.currency', `${at}.items[0].price[0].currency`, ['currency_code'], WHEN),
  from(source.productId, `${at}.items[0].productId`, ['to_string'], { required: true }),
  from('timestamp', `${at}.occurredAt`),
];
const PURCHASE = [
  ...productList('purchase.items', PRODUCT),
  from(product('product_id', 'sku'), 'purchase.items[*].productId', ['to_string'], { required: true }),
  from(product('variant_id', 'sku', 'product_id'), 'purchase.items[*].productVariantId', ['to_string']),
  from(product('price'), 'purchase.items[*].price[0].value', ['to_number'], { default: 0 }),
  from('properties.currency', 'purchase.items[*].price[0].currency', ['currency_code']),
  from(source.ORDER_ID, 'purchase.orderId', ['to_string']),
  from('timestamp', 'purchase.occurredAt'),
];
const CUSTOM = [
  from('timestamp', 'custom.occurredAt'),
  from('event_id', 'custom.externalEventId'),
  from('properties', 'custom.properties'),
];

export default defineVendor({
  key: 'attentive',
  name: 'Attentive',
  description: 'Product views, carts, purchases and custom events into Attentive.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://docs.attentivemobile.com/openapi/reference/tag/Ecommerce',
  api_version: { version: 'v1', checked: '2026-11-16' },
  default_consent_category: 'marketing',
  setup_steps: ['In Attentive open Marketplace, Create app, give it write access to custom events and eCommerce, and copy its API key.'],
  see_it: 'Open Audience, Subscribers, look the subscriber up, and open the activity.',
  notes: [
    'Journeys start only from events that are at most 12 hours old; older ones are stored.',
    'Visitors need a telephone number, an address, or a user id that Attentive already knows.',
    'Product views, additions to the cart and orders use the eCommerce calls; every other event is a custom event. Page views and groups are not sent.',
    'Identify calls are not sent: a subscription needs a legal opt-in.',
    'Attentive refuses quotes, brackets, commas, backslashes and pipes in the type of an event; such an event is rejected.',
  ],
  config_fields: [
    secret('api_key', 'API key', 'abcdefghijklmnopqrstuvwxyz0123456789', 'Marketplace, your app, API key.', {
      pattern: '^\\S+$',
      pattern_hint: 'without spaces',
    }),
  ],
  requests: [
    post('view', 'events/ecommerce/product-view'),
    post('cart', 'events/ecommerce/add-to-cart'),
    post('purchase', 'events/ecommerce/purchase'),
    post('custom', 'events/custom'),
  ],
  event_name: { target: 'custom.type', only_with: 'custom' },
  limits: [{ path: 'custom.properties', max_keys: 200 }],
  compact: [{ path: 'purchase.items', needs: ['productId'] }],
  require_one_of: [['who.user']],
  default_action: 'drop',
  rate: { rps: 100 },
  variants: blueprints({
    names: 'keep',
    global: [
      from(source.PHONE, 'who.user.phone', [PLAIN_PHONE]),
      from(source.EMAIL, 'who.user.email', [PLAIN_EMAIL]),
      from('user_id', 'who.user.externalIdentifiers.clientUserId'),
    ],
    lines: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, CUSTOM])),
    instead: { 'Product Viewed': one('view'), 'Product Added': one('cart'), 'Order Completed': PURCHASE },
    others: { '@page': DISABLED, '@identify': DISABLED, '@group': DISABLED },
    defaults: { action: 'map', mappings: CUSTOM },
  }),
});
