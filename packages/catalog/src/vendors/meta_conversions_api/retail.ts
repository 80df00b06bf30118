import type { JsonObject } from '@firsthand/core/json.ts';
import { event } from '../shared/mapping.ts';
import type { CommerceEvent } from '../shared/standard-events.ts';
import { CONTENTS, data, ORDER, PRODUCT_LIST, REGISTRATION, SEARCH, SINGLE_PRODUCT, VALUE, VALUE_REQUIRED } from './mappings.ts';

const LIST = [
  data(['properties.category', 'properties.list_id'], 'content_category'),
  data('properties.list_name', 'content_name'),
  ...PRODUCT_LIST,
];
const PROMOTION = [
  data('properties.promotion_id', 'promotion_id', ['to_string']),
  data('properties.name', 'promotion_name'),
  data('properties.creative', 'creative'),
];
const COUPON = [
  data(['properties.coupon_name', 'properties.coupon_id', 'properties.coupon'], 'coupon'),
  data('properties.order_id', 'order_id', ['to_string']),
];
const STEP = [data('properties.step', 'checkout_step', ['to_string']), data('properties.payment_method', 'payment_method')];

/** Where Meta has no standard event the name is a custom one, good for audiences and custom conversions. */
export const RETAIL: Record<CommerceEvent, JsonObject> = {
  'Products Searched': event('Search', [...SEARCH, ...CONTENTS]),
  'Product List Viewed': event('ViewContent', LIST),
  'Product List Filtered': event('ViewContent', LIST),
  'Promotion Viewed': event('PromotionViewed', PROMOTION),
  'Promotion Clicked': event('PromotionClicked', PROMOTION),
  'Product Clicked': event('ProductClicked', SINGLE_PRODUCT),
  'Product Viewed': event('ViewContent', SINGLE_PRODUCT),
  'Product Added': event('AddToCart', SINGLE_PRODUCT),
  'Product Removed': event('RemoveFromCart', SINGLE_PRODUCT),
  'Cart Viewed': event('ViewCart', [...PRODUCT_LIST, ...VALUE]),
  'Checkout Started': event('InitiateCheckout', [...ORDER, ...VALUE]),
  'Checkout Step Viewed': event('CheckoutStepViewed', STEP),
  'Checkout Step Completed': event('CheckoutStepCompleted', STEP),
  'Payment Info Entered': event('AddPaymentInfo', [...ORDER, ...VALUE]),
  'Order Completed': event('Purchase', [...ORDER, ...VALUE_REQUIRED]),
  'Order Updated': event('OrderUpdated', [...ORDER, ...VALUE]),
  'Order Refunded': event('Refund', [...ORDER, ...VALUE]),
  'Order Cancelled': event('OrderCancelled', [...ORDER, ...VALUE]),
  'Coupon Entered': event('CouponEntered', COUPON),
  'Coupon Applied': event('CouponApplied', COUPON),
  'Coupon Denied': event('CouponDenied', COUPON),
  'Coupon Removed': event('CouponRemoved', COUPON),
  'Product Added to Wishlist': event('AddToWishlist', SINGLE_PRODUCT),
  'Product Removed from Wishlist': event('RemoveFromWishlist', SINGLE_PRODUCT),
  'Wishlist Product Added to Cart': event('AddToCart', SINGLE_PRODUCT),
  'Product Shared': event('ProductShared', SINGLE_PRODUCT),
  'Cart Shared': event('CartShared', PRODUCT_LIST),
  'Product Reviewed': event('ProductReviewed', SINGLE_PRODUCT),
  'Signed Up': event('CompleteRegistration', REGISTRATION),
  'Signed In': event('Login', [data('properties.method', 'login_method')]),
  'Lead Generated': event('Lead', [data(['properties.lead_source', 'properties.category'], 'content_category'), ...VALUE]),
};
