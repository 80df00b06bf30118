import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { errorInside, RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { HAS_PRICES, NEGATIVE, orderTotal, WITHOUT_SIGN } from '../shared/commerce.ts';
import { optionalText, secret } from '../shared/fields.ts';
import { event, from, set, type Transform, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { EVENT_KINDS } from '../shared/standard-events.ts';
import { PLAIN_EMAIL, PLAIN_PHONE } from '../shared/user-data.ts';

const ANONYMOUS = {
  all: [
    { field: 'user_id', op: 'not_exists' },
    { field: 'anonymous_id', op: 'exists' },
  ],
};

/** `user` and `stamp` are added to every attribute, event and purchase of the event. */
const GLOBAL: JsonObject[] = [
  from('user_id', 'user.external_id'),
  from('anonymous_id', 'user.user_alias.alias_name', [], { when: ANONYMOUS }),
  { ...set('user.user_alias.alias_label', 'anonymous_id'), when: ANONYMOUS },
  { ...set('user._update_existing_only', false), when: ANONYMOUS },
  from('timestamp', 'stamp.time'),
  from('parameters.app_id', 'stamp.app_id'),
];

const attribute = (name: string) => `attributes[0].${name}`;
/** Whom it is about is not for traits to say, and what has a field of Braze's own goes there in Braze's form or not at all. */
const NO_ATTRIBUTES = [
  ...['external_id', 'braze_id', 'user_alias', '_update_existing_only', 'push_token_import'],
  ...['email', 'phone', 'firstName', 'lastName', 'address', 'birthday', 'date_of_birth', 'dob', 'gender', 'country'],
];
/** A property of these names makes Braze refuse the event. */
const RESERVED_PROPERTIES = ['time', 'event_name'];
const PROFILE = [
  from('traits', 'attributes[0]', [use('omit', ...NO_ATTRIBUTES)]),
  from(source.EMAIL, attribute('email'), [PLAIN_EMAIL]),
  from(source.PHONE, attribute('phone'), [PLAIN_PHONE]),
  from(source.FIRST_NAME, attribute('first_name'), ['trim']),
  from(source.LAST_NAME, attribute('last_name'), ['trim']),
  from(source.BIRTHDAY, attribute('dob'), ['normalize_date', use('replace', '^(\\d{4})(\\d\\d)(\\d\\d)$', '$1-$2-$3')]),
  from(source.GENDER, attribute('gender'), ['normalize_gender', 'uppercase']),
  from(source.CITY, attribute('home_city')),
  from(source.COUNTRY, attribute('country'), ['country_code', 'uppercase']),
  from('context.locale', attribute('language'), ['lowercase', use('replace', '[-_].*$')]),
];
/** The alias of the anonymous visitor is merged into the user's profile. */
const IDENTIFIED = {
  all: [
    { field: 'user_id', op: 'exists' },
    { field: 'anonymous_id', op: 'exists' },
  ],
};
const IDENTIFY = event(undefined, [
  ...PROFILE,
  from('user_id', 'aliases[0].external_id', [], { when: IDENTIFIED }),
  from('anonymous_id', 'aliases[0].user_alias.alias_name', [], { when: IDENTIFIED }),
  set('aliases[0].user_alias.alias_label', 'anonymous_id', { when: IDENTIFIED }),
]);
const GROUP = event(undefined, [from('group_id', attribute('group_id')), from('traits.name', attribute('group_name'))]);

const CUSTOM = [from('timestamp', 'events[0].time'), from('properties', 'events[0].properties', [use('omit', ...RESERVED_PROPERTIES)])];
const PAGE = event('Page Viewed', [
  ...CUSTOM,
  from('name', 'events[0].properties.page_name'),
  from(source.PAGE_URL, 'events[0].properties.page_url'),
]);

const SCREEN = event('Screen Viewed', [...CUSTOM, from('name', 'events[0].properties.screen_name')]);

const bought = (name: string) => `purchases[*].${name}`;
/** An order whose products have prices, or that has no value of its own. */
const BY_PRODUCT = {
  any: [
    HAS_PRICES,
    { all: [{ field: 'properties.products[0]', op: 'exists' }, ...source.VALUE.map((field) => ({ field, op: 'not_exists' }))] },
  ],
};
/** One purchase a product, as Braze counts them. */
const byProduct = (sign: Transform[] = []): JsonObject[] => [
  from(product('product_id', 'sku', 'name'), bought('product_id'), ['to_string']),
  from(product('price'), bought('price'), ['to_number', ...sign], { default: 0 }),
  from(product('quantity'), bought('quantity'), ['to_integer'], { default: 1 }),
  from(product('name'), bought('properties.name'), ['to_string']),
  from(product('brand'), bought('properties.brand'), ['to_string']),
  from(product('category'), bought('properties.category'), ['to_string']),
  from(product('variant'), bought('properties.variant'), ['to_string']),
  from('properties.currency', bought('currency'), ['currency_code'], { required: true }),
  from(source.ORDER_ID, bought('properties.order_id'), ['to_string']),
  from('properties.coupon', bought('properties.coupon'), ['to_string']),
];
/** An order without products or prices is one purchase of its whole value. */
const whole = (sign: Transform[] = []): JsonObject[] => [
  set('purchases[0].product_id', 'order'),
  set('purchases[0].quantity', 1),
  ...orderTotal('purchases[0].price', { required: true }, source.VALUE, sign),
  from('properties.currency', 'purchases[0].currency', ['currency_code'], { required: true }),
  from(source.ORDER_ID, 'purchases[0].properties.order_id', ['to_string']),
];
const ORDER = [event(undefined, byProduct(), { filter: BY_PRODUCT }), event(undefined, whole())];
/**
 * The custom event, and purchases of negative prices, which lower the revenue of the user. A quantity is at least 1.
 * https://www.braze.com/docs/developer_guide/platforms/fireos/analytics/logging_purchases: "Values of purchases can be negative."
 */
const HAS_CURRENCY = { field: 'properties.currency', op: 'exists' };
const HAS_VALUE = { any: source.VALUE.map((field) => ({ field, op: 'exists' })) };
const REFUND = [
  event('Order Refunded', [...CUSTOM, ...byProduct(NEGATIVE)], { filter: { all: [HAS_CURRENCY, HAS_PRICES] } }),
  event('Order Refunded', [...CUSTOM, ...whole(NEGATIVE)], { filter: { all: [HAS_CURRENCY, HAS_VALUE] } }),
  event('Order Refunded', CUSTOM),
];

/**
 * Braze's recommended e-commerce events, which replace purchases. Braze discards an event that lacks a required property or has one
 * it does not know.
 * https://www.braze.com/docs/developer_guide/analytics/logging_ecommerce_events/
 */
type Recommended = 'product_viewed' | 'cart_updated' | 'checkout_started' | 'order_placed' | 'order_refunded' | 'order_cancelled';
type Names = (...names: string[]) => string[];
const ecommerce = (name: string) => `events[0].properties.${name}`;
const item = (index: '0' | '*') => (name: string) => ecommerce(`products[${index}].${name}`);
const own: Names = (...names) => names.map((name) => `properties.${name}`);
const NAMES = ['name', 'product_name', 'title'];
const productLines = (of: Names, at: (name: string) => string) => [
  from(of('product_id', 'sku'), at('product_id'), ['to_string'], { required: true }),
  from(of(...NAMES), at('product_name'), ['to_string'], { required: true }),
  from(of('variant', 'product_id', 'sku'), at('variant_id'), ['to_string']),
  from(of('price'), at('price'), ['to_number'], { required: true }),
  from(of('url'), at('product_url'), ['to_string']),
  from(of('image_url'), at('image_url'), ['to_string']),
];
const lineItem = (of: Names, at: (name: string) => string) => [
  ...productLines(of, at),
  from(of('quantity'), at('quantity'), ['to_integer'], { default: 1 }),
];
const SINGLE_RECOMMENDED = productLines(own, ecommerce);
const IS_NAMED = { any: product(...NAMES).map((field) => ({ field, op: 'matches', value: '\\S' })) };
/** What one of several products lacks: Braze checks all of them. */
const COMPLETED = [
  from(product('product_id', 'sku', ...NAMES), item('*')('product_id'), ['to_string']),
  from(product(...NAMES, 'product_id', 'sku'), item('*')('product_name'), ['to_string'], { when: IS_NAMED }),
  from(product('variant', 'product_id', 'sku', ...NAMES), item('*')('variant_id'), ['to_string']),
  from(product('price'), item('*')('price'), ['to_number'], { default: 0, when: HAS_PRICES }),
];
/** With the price of one product there is a total. */
const LIST_RECOMMENDED = [...lineItem(product, item('*')), ...COMPLETED, ...orderTotal(ecommerce('total_value'))];
/** Braze adds refunds up by themselves, so they have no minus. */
const REFUNDED = [
  from(product('price'), item('*')('price'), WITHOUT_SIGN),
  ...orderTotal(ecommerce('total_value'), {}, source.VALUE, WITHOUT_SIGN),
];
/** A product that was put into the cart or taken out. The value of the whole cart is optional here, and the event does not have it. */
const CART_CHANGE = lineItem(own, item('0'));
const amounts = (...names: string[]) => names.map((name) => from(`properties.${name}`, ecommerce(name), ['to_number']));
const COSTS = [from('properties.subtotal', ecommerce('subtotal_value'), ['to_number']), ...amounts('tax', 'shipping')];
const DISCOUNTS = from('properties.discount', ecommerce('total_discounts'), ['to_number']);
const CART_ID = from('properties.cart_id', ecommerce('cart_id'), ['to_string']);

const recommended = (name: Recommended, mappings: JsonObject[]): JsonObject =>
  event(`ecommerce.${name}`, [
    from('timestamp', 'events[0].time'),
    from('properties.currency', ecommerce('currency'), ['currency_code'], { required: true }),
    set(ecommerce('source'), 'web'),
    from('context.os.name', ecommerce('source'), ['lowercase'], { when: source.IS_APP }),
    ...mappings,
  ]);
/** Without the id of a cart the change stays a custom event: Braze would discard it. */
const cartUpdated = (name: string, action: 'add' | 'remove'): JsonObject[] => [
  {
    ...recommended('cart_updated', [...CART_CHANGE, ...COSTS, CART_ID, set(ecommerce('action'), action)]),
    filter: { field: 'properties.cart_id', op: 'exists' },
  },
  event(name, CUSTOM),
];
const ORDER_NUMBER = from(source.ORDER_ID, ecommerce('order_id'), ['to_string'], { required: true });
const RECOMMENDED: JsonObject = {
  'Product Viewed': recommended('product_viewed', SINGLE_RECOMMENDED),
  'Product Added': cartUpdated('Product Added', 'add'),
  'Product Removed': cartUpdated('Product Removed', 'remove'),
  'Checkout Started': recommended('checkout_started', [
    ...LIST_RECOMMENDED,
    ...COSTS,
    from(['properties.checkout_id', ...source.ORDER_ID], ecommerce('checkout_id'), ['to_string'], { required: true }),
    CART_ID,
  ]),
  'Order Completed': recommended('order_placed', [...LIST_RECOMMENDED, ...COSTS, DISCOUNTS, ORDER_NUMBER, CART_ID]),
  'Order Refunded': recommended('order_refunded', [...LIST_RECOMMENDED, ...REFUNDED, DISCOUNTS, ORDER_NUMBER]),
  'Order Cancelled': recommended('order_cancelled', [
    ...LIST_RECOMMENDED,
    ...COSTS,
    DISCOUNTS,
    ORDER_NUMBER,
    from('properties.reason', ecommerce('cancel_reason'), ['to_string'], { default: 'unknown' }),
  ]),
};
const VARIANTS = blueprints({
  names: 'keep',
  global: GLOBAL,
  lines: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, CUSTOM])),
  entries: { 'Order Completed': ORDER, 'Booking Completed': ORDER, 'Order Refunded': REFUND },
  others: { '@page': PAGE, '@screen': SCREEN, '@identify': IDENTIFY, '@group': GROUP },
  defaults: { action: 'map', mappings: CUSTOM },
});
const RETAIL = VARIANTS.find(({ key }) => key === 'retail')?.default_config ?? {};

const ANSWERS: AnswerRule[] = [
  // www.braze.com/docs/api/errors: any other message is a fatal error; `queued` is the answer during maintenance.
  errorInside(
    {
      all: [{ field: 'body.message', op: 'exists' }, { not: { field: 'body.message', op: 'in', value: ['success', 'queued'] } }],
    },
    'body.message',
  ),
  {
    status: ['2xx'],
    verdict: 'partial',
    partial: { errors: 'body.errors', index: 'index', reason: 'type', failed: 'refused', others: 'delivered' },
  },
  { status: [400], verdict: 'refused', reason: 'body.message', isolate: true },
  { status: [429], verdict: 'unavailable', reason: 'body.message', retry_after: { header: 'X-Ratelimit-Retry-After' } },
  RETRY_TIMEOUT,
];
/** Braze does not promise the order of several updates of one user in a request. */
const ONE_UPDATE = { by: 'external_id', how: 'merge' } as const;
/** https://www.braze.com/docs/api/endpoints/user_data/post_user_identify/ */
const IDENTIFY_ALIAS: RequestDefinition = {
  name: 'identify',
  method: 'POST',
  url: 'https://{{parameters.rest_endpoint}}/users/identify',
  auth: { kind: 'bearer', token: '{{parameters.api_key}}' },
  items: 'aliases',
  body: { kind: 'json_list', under: 'aliases_to_identify', common: { merge_behavior: 'merge' } },
  batch: { max_items: 50, max_bytes: 3_500_000, interval_ms: 1_000 },
  answers: ANSWERS,
};
const track = (list: 'attributes' | 'events' | 'purchases'): RequestDefinition => ({
  name: list,
  method: 'POST',
  url: 'https://{{parameters.rest_endpoint}}/users/track',
  auth: { kind: 'bearer', token: '{{parameters.api_key}}' },
  items: list,
  merge: list === 'attributes' ? ['user'] : ['user', 'stamp'],
  body: { kind: 'json_list', under: list },
  // 75, but 50 for accounts that pay by monthly active users.
  batch: { max_items: 50, max_bytes: 3_500_000, interval_ms: 1_000, ...(list === 'attributes' ? { combine: ONE_UPDATE } : {}) },
  answers: ANSWERS,
});

export default defineVendor({
  key: 'braze',
  name: 'Braze',
  description: 'User attributes, custom events and purchases into Braze, for messages and journeys.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://www.braze.com/docs/api/endpoints/user_data/post_user_track/',
  api_version: { version: '/users/track', checked: '2026-11-16' },
  setup_steps: [
    'In Braze open Settings, APIs and identifiers, and create a REST API key with the permissions users.track and users.identify.',
    'Choose the REST endpoint of your instance.',
  ],
  see_it: 'Open the user’s profile, or Settings, Event user log, which keeps requests for 30 days.',
  default_consent_category: 'marketing',
  notes: [
    'Braze rejects a purchase of more than 100 of one product. Its recommended e-commerce events have no such limit.',
    'A refund is the event Order Refunded and, if it has an amount and a currency, purchases with negative prices.',
    'Braze keeps purchases for customers who already use them. New customers of Braze choose the variant Recommended e-commerce events.',
    'A user has one alias of a label: only the first anonymous id of a user is merged into the profile.',
    'Braze has no deduplication of events: a retry after a timeout can repeat an event.',
  ],
  config_fields: [
    {
      key: 'rest_endpoint',
      label: 'REST endpoint',
      type: 'select',
      required: true,
      placeholder: 'rest.iad-01.braze.com',
      help_text: 'Of the instance your workspace runs on.',
      options: [
        'rest.iad-01.braze.com',
        'rest.iad-02.braze.com',
        'rest.iad-03.braze.com',
        'rest.iad-04.braze.com',
        'rest.iad-05.braze.com',
        'rest.iad-06.braze.com',
        'rest.iad-07.braze.com',
        'rest.iad-08.braze.com',
        'rest.us-10.braze.com',
        'rest.fra-01.braze.eu',
        'rest.fra-02.braze.eu',
        'rest.au-01.braze.com',
        'rest.id-01.braze.com',
        'rest.jp-01.braze.com',
        'rest.kr-01.braze.com',
      ],
    },
    secret(
      'api_key',
      'REST API key',
      '01234567-89ab-cdef-0123-456789abcdef',
      'Settings, APIs and identifiers; it needs the permission users.track.',
    ),
    optionalText('app_id', 'App identifier', '1be9bb28-10bb-4a7e-a8d0-9dee80f66dbf', 'Counts events for one app of the workspace.'),
  ],
  requests: [IDENTIFY_ALIAS, track('attributes'), track('events'), track('purchases')],
  send: 'all',
  event_name: { target: 'events[0].name', only_with: 'events[0]', max_length: 255 },
  require_one_of: [['user.external_id', 'user.user_alias']],
  compact: [{ path: 'purchases', needs: ['product_id'] }],
  default_action: 'drop',
  rate: { rps: 250, burst: 500 },
  variants: [
    ...VARIANTS,
    {
      key: 'ecommerce',
      name: 'Recommended e-commerce events',
      description: 'Braze’s recommended e-commerce events instead of purchases.',
      default_config: { ...RETAIL, events: { ...(RETAIL.events as JsonObject), ...RECOMMENDED } },
    },
  ],
});
