/**
 * The e-commerce events as advertising APIs in the manner of Meta's name them. Where they have no standard event the name is a custom one,
 * good for audiences and custom conversions.
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import { event } from './mapping.ts';
import type { CommerceEvent } from './standard-events.ts';

/** A vendor's lines for each sort of event. */
export interface RetailLines {
  search: JsonObject[];
  list: JsonObject[];
  promotion: JsonObject[];
  product: JsonObject[];
  products: JsonObject[];
  cart: JsonObject[];
  step: JsonObject[];
  order: JsonObject[];
  purchase: JsonObject[];
  coupon: JsonObject[];
  registration: JsonObject[];
  login: JsonObject[];
  lead: JsonObject[];
}

const EVENTS: Record<CommerceEvent, [name: string, lines: keyof RetailLines]> = {
  'Products Searched': ['Search', 'search'],
  'Product List Viewed': ['ViewContent', 'list'],
  'Product List Filtered': ['ViewContent', 'list'],
  'Promotion Viewed': ['PromotionViewed', 'promotion'],
  'Promotion Clicked': ['PromotionClicked', 'promotion'],
  'Product Clicked': ['ProductClicked', 'product'],
  'Product Viewed': ['ViewContent', 'product'],
  'Product Added': ['AddToCart', 'product'],
  'Product Removed': ['RemoveFromCart', 'product'],
  'Cart Viewed': ['ViewCart', 'cart'],
  'Checkout Started': ['InitiateCheckout', 'order'],
  'Checkout Step Viewed': ['CheckoutStepViewed', 'step'],
  'Checkout Step Completed': ['CheckoutStepCompleted', 'step'],
  'Payment Info Entered': ['AddPaymentInfo', 'order'],
  'Order Completed': ['Purchase', 'purchase'],
  'Order Updated': ['OrderUpdated', 'order'],
  'Order Refunded': ['OrderRefunded', 'order'],
  'Order Cancelled': ['OrderCancelled', 'order'],
  'Coupon Entered': ['CouponEntered', 'coupon'],
  'Coupon Applied': ['CouponApplied', 'coupon'],
  'Coupon Denied': ['CouponDenied', 'coupon'],
  'Coupon Removed': ['CouponRemoved', 'coupon'],
  'Product Added to Wishlist': ['AddToWishlist', 'product'],
  'Product Removed from Wishlist': ['RemoveFromWishlist', 'product'],
  'Wishlist Product Added to Cart': ['AddToCart', 'product'],
  'Product Shared': ['ProductShared', 'product'],
  'Cart Shared': ['CartShared', 'products'],
  'Product Reviewed': ['ProductReviewed', 'product'],
  'Signed Up': ['CompleteRegistration', 'registration'],
  'Signed In': ['Login', 'login'],
  'Lead Generated': ['Lead', 'lead'],
};

export function conversionRetail(lines: RetailLines): Record<CommerceEvent, JsonObject> {
  const events = Object.entries(EVENTS).map(([name, [theirs, sort]]) => [name, event(theirs, lines[sort])]);
  return Object.fromEntries(events) as Record<CommerceEvent, JsonObject>;
}
