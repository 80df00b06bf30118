import type { JsonObject } from '@firsthand/core/json.ts';
import { event } from '../shared/mapping.ts';
import type { CommerceEvent } from '../shared/standard-events.ts';
import { COUPON, LIST, METHOD, PRODUCT_LIST, PROMOTION, param, REFUND, SINGLE_PRODUCT, TRANSACTION, VALUE } from './mappings.ts';

const SEARCH = [param('properties.query', 'search_term', 'to_string')];
const STEP = [
  param('properties.step', 'checkout_step', 'to_string'),
  param('properties.shipping_method', 'shipping_tier', 'to_string'),
  param('properties.payment_method', 'payment_type', 'to_string'),
];
const CART = [...VALUE, ...COUPON, ...PRODUCT_LIST];
const COUPON_EVENT = [...COUPON, param('properties.order_id', 'order_id', 'to_string'), param('properties.reason', 'reason', 'to_string')];
const SHARE = [param('properties.share_via', 'method', 'to_string')];

export const RETAIL: Record<CommerceEvent, JsonObject> = {
  'Products Searched': event('search', SEARCH),
  'Product List Viewed': event('view_item_list', [...LIST, ...PRODUCT_LIST]),
  'Product List Filtered': event('view_item_list', [...LIST, ...PRODUCT_LIST]),
  'Promotion Viewed': event('view_promotion', PROMOTION),
  'Promotion Clicked': event('select_promotion', PROMOTION),
  'Product Clicked': event('select_item', [...LIST, ...SINGLE_PRODUCT]),
  'Product Viewed': event('view_item', SINGLE_PRODUCT),
  'Product Added': event('add_to_cart', SINGLE_PRODUCT),
  'Product Removed': event('remove_from_cart', SINGLE_PRODUCT),
  'Cart Viewed': event('view_cart', CART),
  'Checkout Started': event('begin_checkout', CART),
  'Checkout Step Viewed': event('checkout_step_viewed', STEP),
  'Checkout Step Completed': event('checkout_progress', STEP),
  'Payment Info Entered': event('add_payment_info', [param('properties.payment_method', 'payment_type', 'to_string'), ...CART]),
  'Order Completed': event('purchase', TRANSACTION),
  'Order Updated': event('order_updated', TRANSACTION),
  'Order Refunded': event('refund', REFUND),
  'Order Cancelled': event('order_cancelled', TRANSACTION),
  'Coupon Entered': event('coupon_entered', COUPON_EVENT),
  'Coupon Applied': event('coupon_applied', COUPON_EVENT),
  'Coupon Denied': event('coupon_denied', COUPON_EVENT),
  'Coupon Removed': event('coupon_removed', COUPON_EVENT),
  'Product Added to Wishlist': event('add_to_wishlist', SINGLE_PRODUCT),
  'Product Removed from Wishlist': event('remove_from_wishlist', SINGLE_PRODUCT),
  'Wishlist Product Added to Cart': event('add_to_cart', SINGLE_PRODUCT),
  'Product Shared': event('share', [...SHARE, ...SINGLE_PRODUCT]),
  'Cart Shared': event('share', [...SHARE, ...PRODUCT_LIST]),
  'Product Reviewed': event('product_reviewed', [
    param('properties.rating', 'rating', 'to_number'),
    param('properties.review_id', 'review_id', 'to_string'),
    ...SINGLE_PRODUCT,
  ]),
  'Signed Up': event('sign_up', METHOD),
  'Signed In': event('login', METHOD),
  'Lead Generated': event('generate_lead', [...VALUE, param('properties.lead_source', 'lead_source', 'to_string')]),
};
