/** https://developers.klaviyo.com/en/reference/create_event and klaviyo/openapi, revision 2026-07-15. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { defineVendor } from '@firsthand/core/vendor/define.ts';
import type { AnswerRule, RequestDefinition } from '@firsthand/core/vendor/definition.ts';
import { RETRY_TIMEOUT } from '../shared/answers.ts';
import { blueprints } from '../shared/blueprints.ts';
import { orderTotal, unitValue, WITHOUT_SIGN } from '../shared/commerce.ts';
import { optionalText, secret } from '../shared/fields.ts';
import { event, from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { OWN_NAMES } from '../shared/standard-events.ts';
import { PHONE_COUNTRY, PLAIN_EMAIL } from '../shared/user-data.ts';

/** `who` is added to every event, so an event also updates the profile. */
const who = into('who.profile.data.attributes');
const PERSON = 'profile.data.attributes';
/** Klaviyo rejects the whole event for a phone number that its country does not use. */
const person = (at: ReturnType<typeof into>) => [
  at('user_id', 'external_id'),
  at(source.EMAIL, 'email', [PLAIN_EMAIL]),
  at(source.PHONE, 'phone_number', [use('normalize_phone', PHONE_COUNTRY, true, true)]),
];
const WHO = [...person(who), who('anonymous_id', 'anonymous_id'), set('who.profile.data.type', 'profile')];
const TRACK = [
  // Klaviyo requires properties, even if there are none.
  set('event.properties', {}),
  from('properties', 'event.properties'),
  from('timestamp', 'event.time'),
  from('event_id', 'event.unique_id'),
  set('event.metric.data.type', 'metric'),
];
const CURRENCY = from('properties.currency', 'event.value_currency', ['currency_code']);

/** Traits with a field of Klaviyo's own. The rest are custom properties. */
const OWN_FIELDS = ['email', 'phone', 'first_name', 'firstName', 'last_name', 'lastName', 'address', 'company', 'title', 'avatar'];
const profile = into(PERSON);
const IDENTIFY = [
  set('profile.data.type', 'profile'),
  ...person(profile),
  profile('anonymous_id', 'anonymous_id'),
  profile(source.FIRST_NAME, 'first_name', ['trim']),
  profile(source.LAST_NAME, 'last_name', ['trim']),
  profile(['traits.company.name', 'traits.company'], 'organization', ['to_string']),
  profile('traits.title', 'title', ['to_string']),
  profile('traits.avatar', 'image', ['to_string']),
  profile('context.locale', 'locale'),
  profile(source.STREET, 'location.address1', ['to_string']),
  profile(source.CITY, 'location.city', ['to_string']),
  profile(source.STATE, 'location.region', ['to_string']),
  profile(source.POSTAL_CODE, 'location.zip', ['to_string']),
  profile(source.COUNTRY, 'location.country', ['to_string']),
  profile('context.ip', 'location.ip'),
  profile('traits', 'properties', [use('omit', ...OWN_FIELDS)]),
];
const GROUP = [
  set('profile.data.type', 'profile'),
  profile('user_id', 'external_id'),
  profile('anonymous_id', 'anonymous_id'),
  profile('traits.name', 'organization', ['to_string']),
  profile('group_id', 'properties.group_id'),
];

const detail = into('event.properties');
/**
 * The names by which Klaviyo's flows, templates and recommendations find products, beside the properties under their own:
 * https://developers.klaviyo.com/en/docs/guide_to_integrating_a_platform_without_a_pre_built_klaviyo_integration
 */
const ONE_PRODUCT = (before: string): JsonObject[] => [
  detail(source.productId, `${before}ProductID`, ['to_string']),
  detail('properties.sku', `${before}SKU`, ['to_string']),
  detail(['properties.name', 'properties.product_name'], `${before}ProductName`, ['to_string']),
  detail(source.CATEGORY, `${before}Categories[0]`, ['to_string']),
  detail('properties.image_url', `${before}ImageURL`, ['to_string']),
  detail('properties.url', `${before}URL`, ['to_string']),
  detail('properties.price', `${before}Price`, ['to_number']),
];
const VIEWED = [...ONE_PRODUCT(''), detail('properties.brand', 'Brand', ['to_string'])];
const ADDED = [...ONE_PRODUCT('AddedItem'), detail('properties.quantity', 'AddedItemQuantity', ['to_integer'], { default: 1 })];
const ITEMS = [
  detail(product('product_id', 'sku'), 'Items[*].ProductID', ['to_string']),
  detail(product('sku'), 'Items[*].SKU', ['to_string']),
  detail(product('name', 'product_name'), 'Items[*].ProductName', ['to_string']),
  detail(product('quantity'), 'Items[*].Quantity', ['to_integer'], { default: 1 }),
  detail(product('price'), 'Items[*].ItemPrice', ['to_number']),
  detail('properties.products', 'Items[*].RowTotal', [use('multiply_fields', 'price', 'quantity')]),
  detail(product('category', 'product_category'), 'Items[*].Categories[0]', ['to_string']),
  detail(product('brand'), 'Items[*].Brand', ['to_string']),
  detail(product('url'), 'Items[*].ProductURL', ['to_string']),
  detail(product('image_url'), 'Items[*].ImageURL', ['to_string']),
  detail(product('name', 'product_name'), 'ItemNames', ['to_string']),
];
const PLACED = [
  detail(source.ORDER_ID, 'OrderId', ['to_string']),
  detail('properties.coupon', 'DiscountCode', ['to_string']),
  detail('properties.discount', 'DiscountValue', ['to_number']),
];

const item = (name: string) => `ordered[*].${name}`;
/**
 * Klaviyo asks for one "Ordered Product" per product beside "Placed Order", for its product recommendations. Its value is that of the
 * whole line. https://developers.klaviyo.com/en/docs/guide_to_integrating_a_platform_without_a_pre_built_klaviyo_integration
 */
const ORDERED = [
  set(item('metric.data.type'), 'metric'),
  set(item('metric.data.attributes.name'), 'Ordered Product'),
  from(product('product_id', 'sku'), item('properties.ProductID'), ['to_string']),
  from(product('sku'), item('properties.SKU'), ['to_string']),
  from(product('name'), item('properties.ProductName'), ['to_string']),
  from(product('quantity'), item('properties.Quantity'), ['to_integer'], { default: 1 }),
  from(product('category'), item('properties.Categories[0]'), ['to_string']),
  from(product('brand'), item('properties.ProductBrand'), ['to_string']),
  from(product('url'), item('properties.ProductURL'), ['to_string']),
  from(product('image_url'), item('properties.ImageURL'), ['to_string']),
  from('properties.products', item('value'), [use('multiply_fields', 'price', 'quantity')]),
  from('properties.currency', item('value_currency'), ['currency_code']),
  from(source.ORDER_ID, item('properties.OrderId'), ['to_string']),
];

/** A cancelled or refunded order lowers the customer lifetime value only if its `unique_id` is that of its "Placed Order". */
const ORDER_KEY = [from(source.ORDER_ID, 'event.unique_id', ['to_string'])];
/** Its value is subtracted, so it has no minus. */
const REVERSED = [...ORDER_KEY, ...orderTotal('event.value', {}, source.VALUE, WITHOUT_SIGN)];

const ANSWERS: AnswerRule[] = [
  { status: [429], verdict: 'unavailable', reason: 'body.errors[0].detail' },
  RETRY_TIMEOUT,
  { status: ['4xx'], verdict: 'refused', reason: 'body.errors[0].detail' },
];
const post = (
  name: string,
  path: string,
): Pick<RequestDefinition, 'name' | 'method' | 'url' | 'headers' | 'auth' | 'body' | 'answers'> => ({
  name,
  method: 'POST',
  url: `https://a.klaviyo.com/api/${path}`,
  headers: { revision: '{{parameters.revision}}', 'Content-Type': 'application/vnd.api+json', Accept: 'application/vnd.api+json' },
  auth: { kind: 'header', name: 'Authorization', value: 'Klaviyo-API-Key {{parameters.api_key}}' },
  body: { kind: 'json' },
  answers: ANSWERS,
});
const EVENT_SHAPE = { data: { type: 'event', attributes: { $ref: 'payload' } } };

export default defineVendor({
  key: 'klaviyo',
  name: 'Klaviyo',
  description: 'Events and profiles into Klaviyo, for flows and segments.',
  category: 'other',
  group: 'engagement',
  status: 'ga',
  website: 'https://developers.klaviyo.com/en/reference/create_event',
  api_version: {
    version: '2026-07-15',
    checked: '2026-11-16',
    field: 'revision',
    // A revision is served for two years.
    ends: {
      '2024-10-15': '2026-10-15',
      '2025-01-15': '2027-01-15',
      '2025-04-15': '2027-04-15',
      '2025-07-15': '2027-07-15',
      '2025-10-15': '2027-10-15',
      '2026-01-15': '2028-01-15',
      '2026-04-15': '2028-04-15',
      '2026-07-15': '2028-07-15',
    },
  },
  default_consent_category: 'marketing',
  setup_steps: [
    'In Klaviyo open Settings, API keys, Create private API key, with full access to events and profiles.',
    'In Settings, Metric mapping, map Placed Order and the other metrics once the first events have arrived.',
  ],
  see_it: 'Open the profile: the event shows in its activity; Analytics, Metrics lists the new metric.',
  notes: [
    'Events of visitors without user id, e-mail address and telephone number are dropped: each would be a profile that is billed.',
    'An order is sent as Placed Order and as one Ordered Product for each product.',
    'Products are also sent under the names that Klaviyo’s flows and recommendations read (ProductID, AddedItemProductName, Items).',
    'Klaviyo ignores an event whose unique_id it already has for the same profile and metric. It is the event id, and the order id for placed, cancelled and refunded orders, as Klaviyo needs for customer lifetime value. To count several refunds of one order, map event_id to event.unique_id in Order Refunded.',
    'Klaviyo answers 202 before it has processed an event.',
  ],
  config_fields: [
    secret(
      'api_key',
      'Private API key',
      'pk_0123456789abcdef0123456789abcdef01',
      'Settings, API keys, Private API keys. It needs the scopes events:write and profiles:write.',
      { pattern: '^\\S+$', pattern_hint: 'without spaces' },
    ),
    optionalText('revision', 'API revision', '2026-07-15', 'Only to stay on an older revision of the API.', {
      default: '2026-07-15',
      pattern: '^\\d{4}-\\d\\d-\\d\\d$',
      pattern_hint: 'a date such as 2026-07-15',
    }),
  ],
  requests: [
    {
      ...post('event', 'events'),
      when: { field: 'event.type', op: 'in', value: ['track', 'page'] },
      items: 'event',
      merge: ['who'],
      shape: EVENT_SHAPE,
    },
    {
      ...post('ordered product', 'events'),
      items: 'ordered',
      merge: ['who'],
      fill: { unique_id: '{{item.id}}', time: '{{event.timestamp}}' },
      shape: EVENT_SHAPE,
    },
    { ...post('profile', 'profile-import'), items: 'profile' },
  ],
  send: 'all',
  event_name: { target: 'event.metric.data.attributes.name', only_with: 'event', max_length: 127 },
  compact: [
    { path: 'ordered', needs: ['metric'] },
    { path: 'event.properties.Items', needs: ['ProductID', 'ProductName'] },
  ],
  limits: [{ path: 'event.properties', max_keys: 400 }],
  require_one_of: [
    ['who.profile.data.attributes.email', 'who.profile.data.attributes.phone_number', 'who.profile.data.attributes.external_id'],
  ],
  default_action: 'drop',
  rate: { rps: 50, burst: 300 },
  variants: blueprints({
    names: {
      ...OWN_NAMES,
      'Product Viewed': 'Viewed Product',
      'Product Added': 'Added to Cart',
      'Checkout Started': 'Started Checkout',
      'Order Completed': 'Placed Order',
      'Order Cancelled': 'Cancelled Order',
      'Order Refunded': 'Refunded Order',
    },
    global: [...WHO, ...TRACK],
    lines: {
      product: [...unitValue('event.value'), CURRENCY],
      order: [...orderTotal('event.value'), CURRENCY, ...ITEMS],
      purchase: [...orderTotal('event.value'), CURRENCY, ...ITEMS, ...PLACED, ...ORDERED],
      refund: [...orderTotal('event.value'), CURRENCY, ...ITEMS, ...PLACED],
      booking: [...orderTotal('event.value'), CURRENCY],
      subscription: [...orderTotal('event.value'), CURRENCY],
    },
    extra: {
      'Product Viewed': VIEWED,
      'Product Added': ADDED,
      'Order Completed': ORDER_KEY,
      'Order Cancelled': [...PLACED, ...REVERSED],
      'Order Refunded': REVERSED,
    },
    others: {
      '@page': event('Viewed Page', [
        from('name', 'event.properties.page_name'),
        from(source.OWN_PAGE_URL, 'event.properties.page_url'),
        from(source.PAGE_TITLE, 'event.properties.page_title'),
      ]),
      '@screen': event('Viewed Screen', [from('name', 'event.properties.screen_name')]),
      '@identify': event(undefined, IDENTIFY),
      '@group': event(undefined, GROUP),
    },
    defaults: { action: 'map' },
  }),
});
