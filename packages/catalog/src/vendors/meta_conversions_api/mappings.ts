/** Meta: user data is normalised as Meta asks and hashed; ip, user agent, click and browser ids go as they are. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { orderValue, unitValue } from '../shared/commerce.ts';
import { from, into, set, use } from '../shared/mapping.ts';
import * as source from '../shared/sources.ts';
import { product } from '../shared/sources.ts';

export const data = into('custom_data');

export const GLOBAL: JsonObject = {
  mappings: [
    from('timestamp', 'event_time', ['to_unix_seconds']),
    from('event_id', 'event_id'),
    // What no page sent (a renewal, an import) is no website event: Meta would refuse it for want of an URL.
    from(source.PAGE_URL, 'action_source', [], { value_map: { '*': 'website' }, default: 'system_generated' }),
    from(source.PAGE_URL, 'event_source_url'),
    from(source.EMAIL, 'user_data.em', ['normalize_email', 'sha256']),
    from(source.PHONE, 'user_data.ph', ['normalize_phone_digits', 'sha256']),
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
    from('context.vendor_ids.fbp', 'user_data.fbp'),
    from(['context.vendor_ids.fbc', 'context.click_ids.fbclid'], 'user_data.fbc', [
      { name: 'fbc_from_click_id', args: [{ source: 'timestamp' }] },
    ]),
  ],
};

export const VALUE = orderValue('custom_data');
/** Meta refuses a purchase without them. */
export const VALUE_REQUIRED = orderValue('custom_data', { required: true });

/** Which products, without a count or a type. */
export const CONTENTS: JsonObject[] = [
  data(source.productIds, 'content_ids', ['to_string']),
  data(product('product_id', 'sku'), 'contents[*].id', ['to_string']),
  data(product('quantity'), 'contents[*].quantity', ['to_integer'], { default: 1 }),
  data(product('price'), 'contents[*].item_price', ['to_number']),
];
export const PRODUCT_LIST: JsonObject[] = [
  ...CONTENTS,
  data(product('quantity'), 'num_items', ['to_integer', use('fill_missing', 1), 'sum']),
  data('properties.content_type', 'content_type', [], { default: 'product' }),
];

export const SINGLE_PRODUCT: JsonObject[] = [
  data(source.productId, 'content_ids[0]', ['to_string']),
  data(source.productId, 'contents[0].id', ['to_string']),
  data('properties.quantity', 'contents[0].quantity', ['to_integer'], { default: 1, when: source.HAS_PRODUCT }),
  data('properties.price', 'contents[0].item_price', ['to_number'], { when: source.HAS_PRODUCT }),
  data(source.productName, 'content_name'),
  data(source.CATEGORY, 'content_category'),
  data('properties.content_type', 'content_type', [], { default: 'product' }),
  ...unitValue('custom_data.value'),
  data('properties.currency', 'currency', ['currency_code']),
];

export const ORDER_ID: JsonObject[] = [data(source.ORDER_ID, 'order_id', ['to_string'])];
export const ORDER: JsonObject[] = [...ORDER_ID, ...PRODUCT_LIST];
export const SEARCH: JsonObject[] = [data('properties.query', 'search_string')];
export const REGISTRATION: JsonObject[] = [
  data('properties.method', 'registration_method'),
  set('custom_data.status', 'completed'),
  ...VALUE,
];
