/** TikTok: e-mail, phone (with its plus), external id and names are hashed; IP address, user agent, ttclid and ttp are not. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { TRACKING_ENABLED } from '../shared/app-data.ts';
import { itemCount, orderValue, unitValue } from '../shared/commerce.ts';
import { advertisingId } from '../shared/device.ts';
import { from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';
import { PHONE_COUNTRY } from '../shared/user-data.ts';

export const prop = into('properties');

/** An app event, for a config that names the app. */
export const IS_APP = { all: [{ field: 'parameters.app_id', op: 'exists' }, source.IS_APP] };
const APPLE_APP = { all: [IS_APP, source.IS_APPLE] };
const ANDROID_APP = { all: [IS_APP, source.IS_ANDROID] };

/** Lower case without any space: TikTok's own code in segmentio/action-destinations, tiktok-conversions/formatter.ts. */
const NAME = ['normalize_name', use('replace', '\\s+'), 'sha256'];

export const GLOBAL: JsonObject = {
  mappings: [
    set('event_source', 'web'),
    set('event_source', 'app', { when: IS_APP }),
    advertisingId('user.idfa', ['trim', 'uppercase'], APPLE_APP),
    advertisingId('user.gaid', ['trim', 'lowercase'], ANDROID_APP),
    from('context.device.id', 'user.idfv', [], { when: APPLE_APP }),
    // What the user answered to App Tracking Transparency, which Android does not have.
    from(TRACKING_ENABLED, 'user.att_status', ['to_boolean'], {
      value_map: { true: 'AUTHORIZED', false: 'DENIED' },
      default: 'NOT_DETERMINED',
      when: APPLE_APP,
    }),
    set('user.att_status', 'NOT_APPLICABLE', { when: ANDROID_APP }),
    from('context.app.namespace', 'app.app_id', [], { when: IS_APP }),
    from('context.app.name', 'app.app_name', [], { when: IS_APP }),
    from('context.app.version', 'app.app_version', [], { when: IS_APP }),
    set('limited_data_use', true, { when: { field: 'parameters.limited_data_use', op: 'eq', value: true } }),
    from('timestamp', 'event_time', ['to_unix_seconds']),
    from('event_id', 'event_id'),
    from(source.EMAIL, 'user.email', ['normalize_email', 'sha256']),
    from(source.PHONE, 'user.phone', [use('normalize_phone', PHONE_COUNTRY), 'sha256']),
    from(['user_id', 'anonymous_id'], 'user.external_id', ['trim', 'sha256']),
    from(source.FIRST_NAME, 'user.first_name', NAME),
    from(source.LAST_NAME, 'user.last_name', NAME),
    from(source.POSTAL_CODE, 'user.zip_code', ['normalize_zip', 'sha256']),
    from(source.CITY, 'user.city', ['normalize_city']),
    from(source.STATE, 'user.state', ['normalize_state']),
    from(source.COUNTRY, 'user.country', ['country_code', 'lowercase']),
    from(['context.click_ids.ttclid', 'context.vendor_ids.ttclid'], 'user.ttclid'),
    from('context.vendor_ids.ttp', 'user.ttp'),
    from('context.ip', 'user.ip'),
    from('context.user_agent', 'user.user_agent'),
    from('context.locale', 'user.locale'),
    from(source.PAGE_URL, 'page.url'),
    from(source.REFERRER, 'page.referrer'),
  ],
};

export const VALUE = orderValue('properties');
/** TikTok requires both for purchases. */
export const VALUE_REQUIRED = orderValue('properties', { required: true });

export const PRODUCT_LIST: JsonObject[] = [
  prop(product('product_id', 'sku'), 'contents[*].content_id', ['to_string']),
  prop(product('name'), 'contents[*].content_name', ['to_string']),
  prop(product('category'), 'contents[*].content_category', ['to_string']),
  prop(product('brand'), 'contents[*].brand', ['to_string']),
  prop(product('price'), 'contents[*].price', ['to_number']),
  prop(product('quantity'), 'contents[*].quantity', ['to_integer'], { default: 1 }),
  itemCount('properties.num_items'),
  prop('properties.content_type', 'content_type', [], { default: 'product' }),
];
const when = source.HAS_PRODUCT;
export const SINGLE_PRODUCT: JsonObject[] = [
  prop(source.productId, 'contents[0].content_id', ['to_string']),
  prop(['properties.name', 'properties.product_name'], 'contents[0].content_name', ['to_string'], { when }),
  prop(source.CATEGORY, 'contents[0].content_category', ['to_string'], { when }),
  prop('properties.brand', 'contents[0].brand', ['to_string'], { when }),
  prop('properties.price', 'contents[0].price', ['to_number'], { when }),
  prop('properties.quantity', 'contents[0].quantity', ['to_integer'], { default: 1, when }),
  prop('properties.content_type', 'content_type', [], { default: 'product' }),
  ...unitValue('properties.value'),
  prop('properties.currency', 'currency', ['currency_code']),
];
export const ORDER: JsonObject[] = [prop(source.ORDER_ID, 'order_id', ['to_string']), ...PRODUCT_LIST];
export const searchFor = (...sources: string[]): JsonObject[] => [
  prop(sources, 'query', ['to_string'], { when: { not: IS_APP } }),
  prop(sources, 'search_string', ['to_string'], { when: IS_APP }),
];
export const SEARCH = searchFor('properties.query');
