import { conversionRetail } from '../shared/conversion-retail.ts';
import { ORDER, PRODUCT_LIST, prop, SEARCH, SINGLE_PRODUCT, VALUE, VALUE_REQUIRED } from './mappings.ts';

export const RETAIL = conversionRetail({
  search: SEARCH,
  list: PRODUCT_LIST,
  promotion: [prop(['properties.name', 'properties.promotion_id'], 'description', ['to_string'])],
  product: SINGLE_PRODUCT,
  products: PRODUCT_LIST,
  cart: [...PRODUCT_LIST, ...VALUE],
  step: [prop('properties.step', 'description', ['to_string'])],
  order: [...ORDER, ...VALUE],
  purchase: [...ORDER, ...VALUE_REQUIRED],
  coupon: [
    prop(['properties.coupon_name', 'properties.coupon_id', 'properties.coupon'], 'description', ['to_string']),
    prop('properties.order_id', 'order_id', ['to_string']),
  ],
  registration: VALUE,
  login: [],
  lead: VALUE,
});
