/** Google Analytics 4: lines that blueprints share. One event a request, so that it stands at `events[0]`. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { unitValue } from '../shared/commerce.ts';
import { from, set, type Transform, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';

const PARAMS = 'events[0].params';
const ITEMS = `${PARAMS}.items`;
const CONSENT = ['context.consent.canonical.advertising', 'context.consent.canonical.marketing'];
const GRANT = { true: 'GRANTED', false: 'DENIED' };

export const param = (from_: string | string[], name: string, ...transforms: Parameters<typeof from>[2] & object): JsonObject =>
  from(from_, `${PARAMS}.${name}`, transforms);

/** Google takes personal data only of users it knows by an id. */
const KNOWN = { field: 'user_id', op: 'exists' };
const known = (source_: string[], name: string, ...transforms: Transform[]) =>
  from(source_, `user_data.${name}`, transforms, { when: KNOWN });
const address = (source_: string[], name: string, ...transforms: Transform[]) =>
  from(source_, `user_data.address[0].${name}`, transforms, { when: { all: [KNOWN, source.HAS_ADDRESS] } });

/** Every event: who, when, where, on which page. A session id and an engagement time make it count in session reports. */
export const GLOBAL: JsonObject = {
  mappings: [
    from(['context.vendor_ids.ga_client_id', 'anonymous_id'], 'client_id', ['ga_client_id'], { required: true }),
    from('user_id', 'user_id'),
    from('timestamp', 'timestamp_micros', ['to_unix_micros']),
    from('context.ip', 'ip_override'),
    from('context.device.type', 'device.category'),
    from('context.device.manufacturer', 'device.brand'),
    from('context.device.model', 'device.model'),
    from('context.os.name', 'device.operating_system'),
    from('context.os.version', 'device.operating_system_version', ['to_string']),
    from('context.browser.name', 'device.browser'),
    from('context.browser.version', 'device.browser_version', ['to_string']),
    from(CONSENT, 'consent.ad_user_data', [], { value_map: GRANT }),
    from(CONSENT, 'consent.ad_personalization', [], { value_map: GRANT }),
    from('traits', 'user_properties', ['ga4_user_properties']),
    known(source.EMAIL, 'sha256_email_address[0]', use('normalize_gmail', true), 'sha256'),
    known(source.PHONE, 'sha256_phone_number[0]', 'normalize_phone', 'sha256'),
    address(source.FIRST_NAME, 'sha256_first_name', use('normalize_name', 'letters'), 'sha256'),
    address(source.LAST_NAME, 'sha256_last_name', use('normalize_name', 'letters'), 'sha256'),
    address(source.STREET, 'sha256_street', use('normalize_name', 'words'), 'sha256'),
    address(source.CITY, 'city', use('normalize_name', 'letters')),
    address(source.STATE, 'region', use('normalize_name', 'letters')),
    address(source.POSTAL_CODE, 'postal_code', use('replace', '[.~]', ''), 'trim'),
    address(source.COUNTRY, 'country', 'country_code', 'uppercase'),
    param('context.vendor_ids.ga_session_id', 'session_id', 'ga_session_id'),
    set(`${PARAMS}.engagement_time_msec`, 1),
    param(source.PAGE_URL, 'page_location'),
    param(source.REFERRER, 'page_referrer'),
    param('context.page.title', 'page_title'),
    param('context.locale', 'language', 'lowercase'),
  ],
};
/** How many of the parameters of an event are spoken for by the lines above. */
const GLOBAL_PARAMS = 6;

const item = (name: string) => `${ITEMS}[*].${name}`;

export const VALUE: JsonObject[] = [param(source.VALUE, 'value', 'to_number'), param('properties.currency', 'currency', 'currency_code')];

/** `properties.products`, and where there is none the one product of the properties. */
export const PRODUCT_LIST: JsonObject[] = [
  from(product('product_id', 'sku'), item('item_id'), ['to_string']),
  from(product('name'), item('item_name')),
  from(product('brand'), item('item_brand')),
  from(product('category'), item('item_category')),
  from(product('variant'), item('item_variant')),
  from(product('price'), item('price'), ['to_number']),
  from(product('quantity'), item('quantity'), ['to_integer']),
  from(product('coupon'), item('coupon')),
  from(product('discount'), item('discount'), ['to_number']),
  from(product('position'), item('index'), ['to_integer']),
  from(product('affiliation'), item('affiliation')),
];

const one = (name: string) => `${ITEMS}[0].${name}`;
export const SINGLE_PRODUCT: JsonObject[] = [
  from(source.productId, one('item_id'), ['to_string']),
  from(['properties.name', 'properties.product_name'], one('item_name')),
  from('properties.brand', one('item_brand')),
  from(source.CATEGORY, one('item_category')),
  from('properties.variant', one('item_variant')),
  from('properties.price', one('price'), ['to_number']),
  from('properties.quantity', one('quantity'), ['to_integer']),
  from('properties.coupon', one('coupon')),
  from('properties.position', one('index'), ['to_integer']),
  param('properties.currency', 'currency', 'currency_code'),
  ...unitValue(`${PARAMS}.value`),
];

export const LIST: JsonObject[] = [
  param('properties.list_id', 'item_list_id', 'to_string'),
  param(['properties.list_name', 'properties.category'], 'item_list_name'),
];
export const COUPON: JsonObject[] = [param(['properties.coupon', 'properties.coupon_name', 'properties.coupon_id'], 'coupon')];

/** Purchases and refunds are deduplicated by their transaction id, and are worth nothing without a currency. */
export const TRANSACTION: JsonObject[] = [
  from(source.ORDER_ID, `${PARAMS}.transaction_id`, ['to_string'], { required: true }),
  param('properties.affiliation', 'affiliation'),
  param('properties.tax', 'tax', 'to_number'),
  param('properties.shipping', 'shipping', 'to_number'),
  ...VALUE,
  ...COUPON,
  ...PRODUCT_LIST,
];

export const PROMOTION: JsonObject[] = [
  param('properties.promotion_id', 'promotion_id', 'to_string'),
  param('properties.name', 'promotion_name'),
  param('properties.creative', 'creative_name'),
  param('properties.position', 'creative_slot', 'to_string'),
];
export const METHOD: JsonObject[] = [param('properties.method', 'method')];
/** Free events: whatever single values the properties hold, in names and lengths that Google takes. */
export const FREE: JsonObject[] = [from('properties', PARAMS, [use('ga4_params', 25 - GLOBAL_PARAMS)])];
