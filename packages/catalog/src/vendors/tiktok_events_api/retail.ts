import type { JsonObject } from '@firsthand/core/json.ts';
import { event } from '../shared/mapping.ts';
import type { CommerceEvent } from '../shared/standard-events.ts';
import { ORDER, PRODUCT_LIST, prop, SEARCH, SINGLE_PRODUCT, VALUE, VALUE_REQUIRED } from './mappings.ts';

const PROMOTION = [prop(['properties.name', 'properties.promotion_id'], 'description')];
const COUPON = [
  prop(['properties.coupon_name', 'properties.coupon_id', 'properties.coupon'], 'description'),
  prop('properties.order_id', 'order_id', ['to_string']),
];
const STEP = [prop('properties.step', 'description', ['to_string'])];

/** Standard events under TikTok's names, the rest as custom events, which TikTok takes for audiences. */
export const RETAIL: Record<CommerceEvent, JsonObject> = {
  'Products Searched': event('Search', SEARCH),
  'Product List Viewed': event('ViewContent', PRODUCT_LIST),
  'Product List Filtered': event('ViewContent', PRODUCT_LIST),
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
  'Order Refunded': event('OrderRefunded', [...ORDER, ...VALUE]),
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
  'Signed Up': event('CompleteRegistration', VALUE),
  'Signed In': event('Login', []),
  'Lead Generated': event('Lead', VALUE),
};
