/** Google Analytics 4: lines that the blueprints share. An event of ours is `events[0]`; up to 25 of one client share a request. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { orderTotal, orderValue, unitValue, WITHOUT_SIGN } from '../shared/commerce.ts';
import { from, set, type Transform, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { PHONE_COUNTRY } from '../shared/user-data.ts';

const PARAMS = 'events[0].params';
const ITEMS = `${PARAMS}.items`;
const GRANT = { true: 'GRANTED', false: 'DENIED' };

export const param = (from_: string | string[], name: string, ...transforms: Transform[]): JsonObject =>
  from(from_, `${PARAMS}.${name}`, transforms);

/** A group's traits are not the user's. */
const NO_GROUP = { field: 'type', op: 'ne', value: 'group' };
/**
 * Google accepts no user data after `ad_user_data` was denied. A user id beside it is recommended, no longer required:
 * developers.google.com/analytics/devguides/collection/ga4/uid-data, read on 2026-11-16.
 */
const KNOWN = { all: [NO_GROUP, { not: source.AD_DENIED }] };
/** An event of a Firebase app, for a config that names the app. */
const IS_FIREBASE = {
  all: [
    { field: 'parameters.firebase_app_id', op: 'exists' },
    {
      any: [
        { field: 'context.app.instance_id', op: 'exists' },
        { field: 'context.vendor_ids.firebase_app_instance_id', op: 'exists' },
      ],
    },
  ],
};
const IS_CATEGORY = { field: 'context.device.type', op: 'in', value: ['desktop', 'mobile', 'tablet', 'tv'] };
const BOTH_SIZES = {
  all: [
    { field: 'context.screen.width', op: 'exists' },
    { field: 'context.screen.height', op: 'exists' },
  ],
};
const known = (source_: string[], name: string, ...transforms: Transform[]) =>
  from(source_, `user_data.${name}`, transforms, { when: KNOWN });
const ADDRESS = 'user_data.address';
/** Google matches an address only as a whole. */
export const WHOLE_ADDRESS = [
  ...['sha256_first_name', 'sha256_last_name', 'postal_code', 'country'].map((part) => `${ADDRESS}[0].${part}`),
  ADDRESS,
];
const address = (source_: string[], name: string, ...transforms: Transform[]) =>
  from(source_, `${ADDRESS}[0].${name}`, transforms, { when: KNOWN });

/** Every event: who, when, where, on which page. Events need a session id and an engagement time to count in session reports. */
export const GLOBAL: JsonObject = {
  mappings: [
    // A server event of a user whose browser is unknown: always the same client.
    from('user_id', 'client_id', ['stable_client_id'], { when: { not: IS_FIREBASE } }),
    from(['context.vendor_ids.ga_client_id', 'anonymous_id'], 'client_id', ['ga_client_id'], {
      required: true,
      when: { not: IS_FIREBASE },
    }),
    from(['context.app.instance_id', 'context.vendor_ids.firebase_app_instance_id'], 'app_instance_id', [], { when: IS_FIREBASE }),
    from('user_id', 'user_id'),
    from('timestamp', 'events[0].timestamp_micros', ['to_unix_micros']),
    from('context.ip', 'ip_override'),
    // Apps of Segment's SDKs write the platform there. DeviceInfo of Google's Data Manager API names the categories.
    from('context.device.type', 'device.category', [], { when: IS_CATEGORY, value_map: { tv: 'smart TV' } }),
    from('context.device.manufacturer', 'device.brand'),
    from('context.device.model', 'device.model'),
    from('context.os.name', 'device.operating_system'),
    from('context.os.version', 'device.operating_system_version', ['to_string']),
    from('context.browser.name', 'device.browser'),
    from('context.browser.version', 'device.browser_version', ['to_string']),
    from('context.locale', 'device.language', ['lowercase']),
    { template: '{{context.screen.width}}x{{context.screen.height}}', target: 'device.screen_resolution', when: BOTH_SIZES },
    from(source.AD_CONSENT, 'consent.ad_user_data', [], { value_map: GRANT }),
    from(source.AD_CONSENT, 'consent.ad_personalization', [], { value_map: GRANT }),
    from('traits', 'user_properties', ['ga4_user_properties'], { when: NO_GROUP }),
    known(source.EMAIL, 'sha256_email_address[0]', 'normalize_gmail', 'sha256'),
    known(source.PHONE, 'sha256_phone_number[0]', use('normalize_phone', PHONE_COUNTRY), 'sha256'),
    address(source.FIRST_NAME, 'sha256_first_name', use('normalize_name', 'letters'), 'sha256'),
    address(source.LAST_NAME, 'sha256_last_name', use('normalize_name', 'letters'), 'sha256'),
    address(source.STREET, 'sha256_street', use('normalize_name', 'words'), 'sha256'),
    address(source.CITY, 'city', use('normalize_name', 'letters')),
    address(source.STATE, 'region', use('normalize_name', 'letters')),
    address(source.POSTAL_CODE, 'postal_code', use('replace', '[.~]', ''), 'trim'),
    address(source.COUNTRY, 'country', 'country_code', 'uppercase'),
    // The session of the cookie of this stream, otherwise the visitor's own.
    param('context.session.started_at', 'session_id', 'to_unix_seconds', 'to_string'),
    from('context.vendor_ids.ga_session_id', `${PARAMS}.session_id`, ['ga_session_id'], {
      when: { field: 'context.vendor_ids.ga_sessions', op: 'not_exists' },
    }),
    param('context.vendor_ids.ga_sessions', 'session_id', use('ga_stream_session', { source: 'parameters.measurement_id' })),
    set(`${PARAMS}.engagement_time_msec`, 1),
    set(`${PARAMS}.debug_mode`, 1, { when: { field: 'parameters.debug_mode', op: 'eq', value: true } }),
    param(source.PAGE_URL, 'page_location'),
    param(source.REFERRER, 'page_referrer'),
    param('context.page.title', 'page_title'),
  ],
};
/** Parameters that the lines above use. */
const GLOBAL_PARAMS = 6;

const item = (name: string) => `${ITEMS}[*].${name}`;

export const VALUE: JsonObject[] = orderValue(PARAMS);

/** `properties.products`, and where there is none the one product of the properties. */
export const PRODUCT_LIST: JsonObject[] = [
  from(product('product_id', 'sku'), item('item_id'), ['to_string']),
  from(product('name', 'product_name'), item('item_name'), ['to_string']),
  from(product('brand'), item('item_brand'), ['to_string']),
  from(product('category', 'product_category'), item('item_category'), ['to_string']),
  from(product('variant'), item('item_variant'), ['to_string']),
  from(product('price'), item('price'), ['to_number']),
  from(product('quantity'), item('quantity'), ['to_integer']),
  from(product('coupon'), item('coupon'), ['to_string']),
  from(product('discount'), item('discount'), ['to_number']),
  from(product('position'), item('index'), ['to_integer']),
  from(product('affiliation'), item('affiliation'), ['to_string']),
];

const one = (name: string) => `${ITEMS}[0].${name}`;
export const SINGLE_PRODUCT: JsonObject[] = [
  from(source.productId, one('item_id'), ['to_string']),
  from(['properties.name', 'properties.product_name'], one('item_name'), ['to_string']),
  from('properties.brand', one('item_brand'), ['to_string']),
  from(source.CATEGORY, one('item_category'), ['to_string']),
  from('properties.variant', one('item_variant'), ['to_string']),
  from('properties.price', one('price'), ['to_number']),
  from('properties.quantity', one('quantity'), ['to_integer']),
  from('properties.coupon', one('coupon'), ['to_string']),
  from('properties.discount', one('discount'), ['to_number']),
  from('properties.position', one('index'), ['to_integer']),
  from('properties.affiliation', one('affiliation'), ['to_string']),
  param('properties.currency', 'currency', 'currency_code'),
  ...unitValue(`${PARAMS}.value`),
];

export const LIST: JsonObject[] = [
  param('properties.list_id', 'item_list_id', 'to_string'),
  param(['properties.list_name', 'properties.category'], 'item_list_name', 'to_string'),
];
export const COUPON: JsonObject[] = [param(['properties.coupon', 'properties.coupon_name', 'properties.coupon_id'], 'coupon', 'to_string')];

/** Google deduplicates purchases and refunds by transaction id. */
const transaction = (ids: string[]): JsonObject[] => [
  from(ids, `${PARAMS}.transaction_id`, ['to_string'], { required: true }),
  param('properties.affiliation', 'affiliation', 'to_string'),
  param('properties.tax', 'tax', 'to_number'),
  param('properties.shipping', 'shipping', 'to_number'),
  ...VALUE,
  ...COUPON,
  ...PRODUCT_LIST,
];
export const TRANSACTION = transaction(source.ORDER_ID);

const PAYMENT = [...source.ORDER_ID, 'properties.invoice_id', 'properties.transaction_id'];
const NO_PRODUCTS = { when: { field: 'properties.products[0]', op: 'not_exists' } };
/** The plan is the item, if the event names no products. */
const subscription = (ids: string[]): JsonObject[] => [
  param('properties.price', 'value', 'to_number'),
  ...transaction(ids),
  from(['properties.plan_id', 'properties.plan', 'properties.plan_name'], one('item_id'), ['to_string'], NO_PRODUCTS),
  from(['properties.plan_name', 'properties.plan'], one('item_name'), ['to_string'], NO_PRODUCTS),
  from('properties.price', one('price'), ['to_number'], NO_PRODUCTS),
  from('properties.quantity', one('quantity'), ['to_integer'], { default: 1, ...NO_PRODUCTS }),
];
/** A subscription that names no payment has its own id. A renewal must not have it: Google would take it for the first payment. */
export const SUBSCRIPTION = subscription([...PAYMENT, 'properties.subscription_id', 'event_id']);
export const RENEWAL = subscription([...PAYMENT, 'event_id']);

/** A refund is an amount that Google subtracts. */
export const REFUND: JsonObject[] = [
  ...TRANSACTION,
  ...orderTotal(`${PARAMS}.value`, {}, source.VALUE, WITHOUT_SIGN),
  param('properties.tax', 'tax', ...WITHOUT_SIGN),
  param('properties.shipping', 'shipping', ...WITHOUT_SIGN),
  from(product('price'), item('price'), WITHOUT_SIGN),
];

export const PROMOTION: JsonObject[] = [
  param('properties.promotion_id', 'promotion_id', 'to_string'),
  param('properties.name', 'promotion_name', 'to_string'),
  param('properties.creative', 'creative_name', 'to_string'),
  param('properties.position', 'creative_slot', 'to_string'),
];
export const METHOD: JsonObject[] = [param('properties.method', 'method', 'to_string')];
/** Other events: the single values of the properties, in names and lengths that Google accepts. */
export const FREE: JsonObject[] = [
  from('properties', PARAMS, [use('ga4_params', 25 - GLOBAL_PARAMS)]),
  // Events under Google's own names, such as `purchase`, bring their items along.
  from('properties.items', ITEMS, [], { when: { field: 'properties.items[0]', op: 'exists' } }),
];
