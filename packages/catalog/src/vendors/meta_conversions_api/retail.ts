import { conversionRetail } from '../shared/conversion-retail.ts';
import { CONTENTS, data, ORDER, PRODUCT_LIST, REGISTRATION, SEARCH, SINGLE_PRODUCT, VALUE, VALUE_REQUIRED } from './mappings.ts';

export const RETAIL = conversionRetail({
  search: [...SEARCH, ...CONTENTS],
  list: [
    data(['properties.category', 'properties.list_id'], 'content_category', ['to_string']),
    data('properties.list_name', 'content_name', ['to_string']),
    ...PRODUCT_LIST,
  ],
  promotion: [
    data('properties.promotion_id', 'promotion_id', ['to_string']),
    data('properties.name', 'promotion_name', ['to_string']),
    data('properties.creative', 'creative', ['to_string']),
  ],
  product: SINGLE_PRODUCT,
  products: PRODUCT_LIST,
  cart: [...PRODUCT_LIST, ...VALUE],
  step: [data('properties.step', 'checkout_step', ['to_string']), data('properties.payment_method', 'payment_method', ['to_string'])],
  order: [...ORDER, ...VALUE],
  purchase: [...ORDER, ...VALUE_REQUIRED],
  coupon: [
    data(['properties.coupon_name', 'properties.coupon_id', 'properties.coupon'], 'coupon', ['to_string']),
    data('properties.order_id', 'order_id', ['to_string']),
  ],
  registration: REGISTRATION,
  login: [data('properties.method', 'login_method', ['to_string'])],
  lead: [data(['properties.lead_source', 'properties.category'], 'content_category', ['to_string']), ...VALUE],
});
