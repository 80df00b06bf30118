/** Meta: user data is normalised and hashed; IP address, user agent, click ids and browser ids are sent as they are. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { extendedInfo, trackingEnabled } from '../shared/app-data.ts';
import { itemCount, orderValue, unitValue } from '../shared/commerce.ts';
import { advertisingId } from '../shared/device.ts';
import { from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { PHONE_COUNTRY } from '../shared/user-data.ts';

export const data = into('custom_data');

const chosen = (op: string, value: string) => ({ field: 'parameters.action_source', op, value });
const HAS_PAGE = { field: 'context.page.url', op: 'exists' };
/** A website event: chosen in the config, or an event with a page that is not an app's. */
const IS_WEBSITE = { any: [chosen('eq', 'website'), { all: [chosen('eq', 'auto'), HAS_PAGE, { not: source.IS_APP }] }] };
const IS_APP_EVENT = { any: [chosen('eq', 'app'), { all: [chosen('eq', 'auto'), source.IS_APP] }] };
const FBC = 'context.vendor_ids.fbc';
const LIMITED = { when: { field: 'parameters.limited_data_use', op: 'eq', value: true } };

const APP_DATA: JsonObject[] = [
  ...trackingEnabled('app_data.advertiser_tracking_enabled', IS_APP_EVENT),
  // What the person chose in the app, not on the device: developers.facebook.com, conversions-api/parameters/app-data.
  set('app_data.application_tracking_enabled', 1, { when: IS_APP_EVENT }),
  set('app_data.application_tracking_enabled', 0, { when: { all: [IS_APP_EVENT, source.AD_DENIED] } }),
  from('context.device.id', 'app_data.vendor_id', [], { when: { all: [IS_APP_EVENT, source.IS_APPLE] } }),
  ...extendedInfo('app_data', IS_APP_EVENT),
  advertisingId('user_data.madid', ['lowercase'], IS_APP_EVENT),
];

/** Properties that have a field of their own at Meta, or name a person. The others are sent as custom data. */
const MAPPED_PROPERTIES = [
  ...['products', 'items', 'value', 'total', 'revenue', 'currency', 'product_id', 'sku', 'quantity', 'price', 'name', 'category', 'query'],
  ...['order_id', 'checkout_id', 'booking_id', 'url', 'referrer', 'title', 'path', 'search', 'content_type', 'method'],
  ...['email', 'phone', 'first_name', 'last_name', 'firstName', 'lastName', 'gender', 'birthday', 'address'],
];

export const GLOBAL: JsonObject = {
  mappings: [
    from('properties', 'custom_data', [use('omit', ...MAPPED_PROPERTIES)], { when: { field: 'type', op: 'eq', value: 'track' } }),
    from('timestamp', 'event_time', ['to_unix_seconds']),
    from('event_id', 'event_id'),
    // Without a page (a renewal, an import) it is not a website event: Meta would reject it for the missing URL.
    set('action_source', 'system_generated'),
    set('action_source', 'website', { when: IS_WEBSITE }),
    set('action_source', 'app', { when: IS_APP_EVENT }),
    from('parameters.action_source', 'action_source', [], { when: chosen('ne', 'auto') }),
    from(source.PAGE_URL, 'event_source_url', [], { required: true, when: IS_WEBSITE }),
    from(source.REFERRER, 'referrer_url', [], { when: IS_WEBSITE }),
    set('data_processing_options', ['LDU'], LIMITED),
    // 0 and 0: Meta finds out the place itself.
    set('data_processing_options_country', 0, LIMITED),
    set('data_processing_options_state', 0, LIMITED),
    from(source.EMAIL, 'user_data.em', ['normalize_email', 'sha256']),
    from(source.PHONE, 'user_data.ph', [use('normalize_phone_digits', PHONE_COUNTRY), 'sha256']),
    from(source.FIRST_NAME, 'user_data.fn', [use('normalize_name', 'joined'), 'sha256']),
    from(source.LAST_NAME, 'user_data.ln', [use('normalize_name', 'joined'), 'sha256']),
    from(source.GENDER, 'user_data.ge', ['normalize_gender', 'sha256']),
    from(source.BIRTHDAY, 'user_data.db', ['normalize_date', 'sha256']),
    from(source.CITY, 'user_data.ct', ['normalize_city', 'sha256']),
    from(source.STATE, 'user_data.st', ['normalize_state', 'sha256']),
    from(source.POSTAL_CODE, 'user_data.zp', ['normalize_zip', 'sha256']),
    from(source.COUNTRY, 'user_data.country', ['country_code', 'lowercase', 'sha256']),
    from(['user_id', 'anonymous_id'], 'user_data.external_id', ['trim', 'lowercase', 'sha256']),
    from('context.ip', 'user_data.client_ip_address'),
    from('context.user_agent', 'user_data.client_user_agent'),
    from('context.user_agent', 'user_data.client_user_agent', [], { required: true, when: IS_WEBSITE }),
    from('context.vendor_ids.fbp', 'user_data.fbp'),
    // A click that is not the cookie's is newer: the page's tag has not stored it yet (facebook/capi-param-builder, ParamBuilder).
    from(['context.click_ids.fbclid', FBC], 'user_data.fbc', [
      use('fbc_from_click_id', { source: source.clickTime('fbclid') }, { source: FBC }),
    ]),
    ...APP_DATA,
  ],
};

export const VALUE = orderValue('custom_data');
/** Meta requires them of purchases only: developers.facebook.com/docs/meta-pixel/reference, read on 2026-11-16. */
export const VALUE_REQUIRED = orderValue('custom_data', { required: true });

/** Which products, without a count or a type. */
export const CONTENTS: JsonObject[] = [
  data(source.productIds, 'content_ids', ['trim']),
  data(product('product_id', 'sku'), 'contents[*].id', ['to_string']),
  data(product('quantity'), 'contents[*].quantity', ['to_integer'], { default: 1 }),
  data(product('price'), 'contents[*].item_price', ['to_number']),
];
export const PRODUCT_LIST: JsonObject[] = [
  ...CONTENTS,
  itemCount('custom_data.num_items'),
  data('properties.content_type', 'content_type', [], { default: 'product' }),
];

export const SINGLE_PRODUCT: JsonObject[] = [
  data(source.productId, 'content_ids[0]', ['trim']),
  data(source.productId, 'contents[0].id', ['to_string']),
  data('properties.quantity', 'contents[0].quantity', ['to_integer'], { default: 1, when: source.HAS_PRODUCT }),
  data('properties.price', 'contents[0].item_price', ['to_number'], { when: source.HAS_PRODUCT }),
  data(source.productName, 'content_name', ['to_string']),
  data(source.CATEGORY, 'content_category', ['to_string']),
  data('properties.content_type', 'content_type', [], { default: 'product' }),
  ...unitValue('custom_data.value'),
  data('properties.currency', 'currency', ['currency_code']),
];

export const ORDER_ID: JsonObject[] = [data(source.ORDER_ID, 'order_id', ['to_string'])];
export const ORDER: JsonObject[] = [...ORDER_ID, ...PRODUCT_LIST];
export const SEARCH: JsonObject[] = [data('properties.query', 'search_string', ['to_string'])];
export const REGISTRATION: JsonObject[] = [
  data('properties.method', 'registration_method', ['to_string']),
  set('custom_data.status', 'completed'),
  ...VALUE,
];
